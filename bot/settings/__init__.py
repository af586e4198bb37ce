"""The settings: one tree, read from a file, the environment and files of secrets."""

from bot.settings.load import config_path, load
from bot.settings.network import HeartbeatSettings, NetworkSettings
from bot.settings.secrets import SettingsError
from bot.settings.slack import SlackSettings
from bot.settings.tree import (
    CloudSettings,
    ClusterSettings,
    JumpSettings,
    Level,
    LoginSettings,
    RestSettings,
    Settings,
    SshSettings,
)

__all__ = [
    "CloudSettings",
    "ClusterSettings",
    "HeartbeatSettings",
    "JumpSettings",
    "Level",
    "LoginSettings",
    "NetworkSettings",
    "RestSettings",
    "Settings",
    "SettingsError",
    "SlackSettings",
    "SshSettings",
    "config_path",
    "load",
]
