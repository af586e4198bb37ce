"""Who sees what: the features of a log that the decision table is written over."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from bot.diagnosis import names
from bot.diagnosis.gai import code_of, glibc_code
from bot.diagnosis.kinds import Kind
from bot.diagnosis.view import View
from bot.diagnosis.voices import REACHED_KINDS, Voice

#: getaddrinfo codes, glibc's numbers: the resolver gave no (usable) answer
NO_ANSWER = frozenset({-3, -4, -11})
#: the resolver answered that there is no such name, or no address for it
TOLD_NO = frozenset({-2, -5})
#: wrong family: mostly an address looked up as the other family
WRONG_FAMILY = frozenset({-9, -6})

_OTHER_LOOKUPS = (Kind.PY_LOOKUP_FAILED, Kind.HOST_NOT_FOUND, Kind.COMM_ID_LOOKUP_FAILED)
#: look-ups that print no name, and end the process
_NAMELESS = (Kind.HOST_NOT_FOUND, Kind.COMM_ID_LOOKUP_FAILED)
#: an agent that waited for the others had reached the store
_AGENT_WAITED = (Kind.RDZV_TIMEOUT, Kind.RDZV_CLOSED)
#: what comes only after the name was found
_RESOLVED = (Kind.CONNECT_TIMEOUT, Kind.CONNECT_FAILED, Kind.SERVER_TIMEOUT, Kind.STORE_RETRY)


class Failing(NamedTuple):
    """One observer whose look-ups failed and did not recover."""

    observer: object
    voices: tuple[Voice, ...]
    targets: frozenset[str]
    ports: frozenset[int]
    codes: frozenset[int]

    @property
    def answer(self) -> str:
        """Return `no_answer`, `told_no`, `mixed` or `unclear`."""
        silent, told = self.codes & NO_ANSWER, self.codes & TOLD_NO
        if silent and told:
            return "mixed"
        if told:
            return "told_no"
        return "no_answer" if silent else "unclear"


class Situation:
    """Derived facts about a view; computed when first asked for."""

    def __init__(self, view: View) -> None:
        """Look at a finished view."""
        self.view = view

    # ------------------------------------------------------------------ progress

    @cached_property
    def progressed(self) -> bool:
        """Tell whether anybody reports progress."""
        return bool(self.view.progress)

    def recovered(self, voice: Voice) -> bool:
        """Tell whether a voice got beyond its failing look-ups."""
        last, file = voice.last_lookup, voice.origin.file
        if voice.last_progress > last or self.view.went_on(file, voice.last_startup_failure):
            return True
        if not voice.gave_up and (self.view.went_on_elsewhere(file) or self._sibling_beyond(voice)):
            return True
        if voice.quiet > last:
            return True
        if voice.anonymous and voice.origin.node_rank is None:
            return self._connected_alone(voice)
        past = voice.last_beyond > last and voice.last_startup_failure <= last
        return past or voice.last_reached > last

    def _connected_alone(self, voice: Voice) -> bool:
        """Tell whether an unlabelled stream, in which others may speak, ends in a connection."""
        connected = voice.last.get(Kind.CONNECTED)
        if connected is None or self.most_joined is not None:
            return False
        return connected.seq > voice.last_startup_failure

    def _sibling_beyond(self, voice: Voice) -> bool:
        """Tell whether another process of the same machine, or of an unlabelled log, got beyond."""
        machine, file = self.view.machine(voice), voice.origin.file
        if machine is not None:
            return self._reached_on.get((file, machine), -1) > voice.last_lookup
        return voice.anonymous and self._ranks_beyond.get(file, -1) > voice.last_lookup

    @cached_property
    def _reached_on(self) -> dict[tuple[str | None, str], int]:
        """Return the last proof, per file and machine, that the store was reached from it."""
        last: dict[tuple[str | None, str], int] = {}
        for voice in self.view.voices.values():
            machine = self.view.machine(voice)
            if machine is not None:
                key = (voice.origin.file, machine)
                last[key] = max(last.get(key, -1), voice.last_reached)
        return last

    @cached_property
    def _ranks_beyond(self) -> dict[str | None, int]:
        """Return the last sign, per file, of a rank past its start-up."""
        last: dict[str | None, int] = {}
        for voice in self.view.voices.values():
            if voice.origin.rank is not None:
                file = voice.origin.file
                last[file] = max(last.get(file, -1), voice.last_beyond)
        return last

    # ------------------------------------------------------------------ look-ups

    @cached_property
    def looked_up_in_vain(self) -> tuple[Voice, ...]:
        """Return every voice with failing forward look-ups, recovered or not."""
        return tuple(
            voice
            for voice in self.view.voices.values()
            if any(self._matters(lookup.codes, lookup.text) for lookup in voice.lookups.values())
            or (voice.has(*_OTHER_LOOKUPS) and not self._of_something_else(voice))
        )

    def _of_something_else(self, voice: Voice) -> bool:
        """Tell whether a nameless look-up failed after the job ran: then it was of no peer."""
        seen = voice.first.get(Kind.PY_LOOKUP_FAILED)
        if seen is None or self.view.elastic or voice.has(Kind.LOOKUP_FAILED):
            return False
        return self.view.first_progress.get(voice.origin.file, seen.seq) < seen.seq

    @staticmethod
    def _matters(codes: set[int], text: str) -> bool:
        return bool({glibc_code(code, text) for code in codes} - WRONG_FAMILY) or not codes

    @cached_property
    def recovered_voices(self) -> tuple[Voice, ...]:
        """Return the voices whose look-ups failed and then worked."""
        return tuple(voice for voice in self.looked_up_in_vain if self.recovered(voice))

    @cached_property
    def failing(self) -> tuple[Failing, ...]:
        """Return the observers whose look-ups failed for good."""
        groups: dict[object, list[Voice]] = {}
        for voice in self.looked_up_in_vain:
            if not self.recovered(voice):
                groups.setdefault(self.view.observer(voice), []).append(voice)
        return tuple(self._failing(observer, voices) for observer, voices in groups.items())

    @staticmethod
    def _failing(observer: object, voices: list[Voice]) -> Failing:
        codes: set[int] = set()
        targets: set[str] = set()
        ports: set[int] = set()
        for voice in voices:
            for lookup in voice.lookups.values():
                targets.add(lookup.host)
                ports |= {lookup.port} if lookup.port is not None else set()
                codes |= {glibc_code(code, lookup.text) for code in lookup.codes}
            for kind in _OTHER_LOOKUPS:
                if kind in voice.last:
                    code = code_of(voice.last[kind])
                    if code is not None:
                        codes.add(glibc_code(code, voice.last[kind].fields.get("text", "")))
        return Failing(
            observer=observer,
            voices=tuple(voices),
            targets=frozenset(targets),
            ports=frozenset(ports),
            codes=frozenset(codes - WRONG_FAMILY) or frozenset(codes),
        )

    @cached_property
    def targets(self) -> frozenset[str]:
        """Return every name that a failing observer asked for."""
        return frozenset(target for one in self.failing for target in one.targets)

    # ------------------------------------------------------------------ the others

    @cached_property
    def most_joined(self) -> tuple[int, int] | None:
        """Return (joined, world size) as the store's server said last, or None."""
        found = [(joined, world) for joined, world, _ in self.view.joined]
        return found[-1] if found else None

    @cached_property
    def failing_voices(self) -> frozenset[int]:
        """Return the identities of the voices of `failing`."""
        return frozenset(id(voice) for one in self.failing for voice in one.voices)

    @cached_property
    def master(self) -> str | None:
        """Return the machine that serves the store, where the log tells it."""
        for _, _, seen in reversed(self.view.joined):
            machine = self.view.machine(self.view.voice(seen.origin))
            if machine is not None:
                return machine
        for voice in self.view.voices.values():
            if self.view.rank(voice) == 0 or voice.origin.node_rank == 0:
                machine = self.view.machine(voice)
                if machine is not None:
                    return machine
        return None

    def at_master(self, voice: Voice) -> bool:
        """Tell whether a voice sits on the machine that serves the store."""
        view = self.view
        if view.rank(voice) == 0 or view.node_rank(voice) == 0 or voice.has(Kind.CLIENTS_JOINED):
            return True
        machine = view.machine(voice)
        if machine is not None and machine == self.master:
            return True
        remotes = {names.short(remote) for remote, _ in voice.remotes}
        if voice.locals and voice.locals <= remotes:
            return True
        return machine is not None and any(names.same_host(machine, name) for name in self.targets)

    @cached_property
    def others_through(self) -> bool:
        """Tell whether somebody who does not serve the store got an answer for its name.

        The store's own machine proves nothing: it reaches itself without a name server.
        """
        observers = {one.observer for one in self.failing}
        for voice in self.view.voices.values():
            if voice.anonymous and voice.origin.node_rank is None:
                if self._merged_through(voice):
                    return True
            elif (
                voice.has(*REACHED_KINDS, *_AGENT_WAITED)
                and self._same_store(voice)
                and self.view.observer(voice) not in observers
                and not self.at_master(voice)
                and (self._several_joined or self._elsewhere(voice) or self._off_master(voice))
            ):
                return True
        return False

    def _merged_through(self, voice: Voice) -> bool:
        """Tell the same of an unlabelled stream, in which several may speak.

        An agent that dies of a nameless look-up leaves the others: a connect of theirs that timed
        out shows that they found the name, since a failing look-up prints its line before.
        """
        if voice.has(*_AGENT_WAITED):
            return True
        if voice.has(*REACHED_KINDS) and self._same_store(voice):
            return self._elsewhere(voice) or (not voice.locals and self._several_joined)
        nameless = voice.last.get(Kind.PY_LOOKUP_FAILED)
        if nameless is None or voice.lookups or voice.has(*_NAMELESS):
            return False
        return any(voice.last[kind].seq > nameless.seq for kind in _RESOLVED if kind in voice.last)

    def _off_master(self, voice: Voice) -> bool:
        """Tell whether the log names both the store's machine and this other one."""
        machine = self.view.machine(voice)
        return machine is not None and self.master is not None and machine != self.master

    @staticmethod
    def _elsewhere(voice: Voice) -> bool:
        """Tell whether a voice's sockets have addresses other than the store's."""
        return bool(voice.locals - {names.short(remote) for remote, _ in voice.remotes})

    def _same_store(self, voice: Voice) -> bool:
        """Tell whether what a voice reached can be the store that others look for."""
        wanted = {port for one in self.failing for port in one.ports}
        reached = {port for _, port in voice.remotes if port is not None}
        return not wanted or not reached or bool(wanted & reached)

    @cached_property
    def _several_joined(self) -> bool:
        """Tell whether more machines than the store's own are among those that joined."""
        if self.most_joined is None:
            return True
        joined, world = self.most_joined
        return joined > world - joined

    @cached_property
    def somebody_through(self) -> bool:
        """Tell whether anybody at all is in view who does not fail for names."""
        if self.others_through:
            return True
        joined = self.most_joined
        return joined is not None and joined[0] > 1

    @cached_property
    def failing_machines(self) -> int:
        """Return how many machines fail, as far as can be told: 1, or 2 for several."""
        named = {one.observer for one in self.failing if isinstance(one.observer, str)}
        unnamed = [one for one in self.failing if not isinstance(one.observer, str)]
        if len(named) > 1 or self._others_ask_in_vain(named) or self._others_time_out_alike():
            return 2
        if self._folded():
            return 2
        if named and unnamed:
            return 2 if not self._anonymous(unnamed) else 1
        if len(self.failing) <= 1:
            if not self._anonymous(unnamed):
                return 1
            return 2 if self._all_ended_so() else self._by_count()
        numbers = sorted(
            number
            for one in unnamed
            for number in (one.voices[0].origin.task, one.voices[0].origin.rank)
            if number is not None
        )
        return 1 if self._one_block(numbers) and len(numbers) == len(unnamed) else 2

    def _others_ask_in_vain(self, named: set[str]) -> bool:
        """Tell whether other machines get no answer either, for names that have no rank behind."""
        for voice in self.view.voices.values():
            seen = voice.last.get(Kind.OTHER_LOOKUP_FAILED)
            if seen is None or id(voice) in self.failing_voices or voice.anonymous:
                continue
            if self.view.observer(voice) not in named and not self.others_through:
                return True
        return False

    def _others_time_out_alike(self) -> bool:
        """Tell whether others time out on the same name, their look-ups perhaps cut off."""
        if self.others_through:
            return False
        observers = {one.observer for one in self.failing}
        for voice in self.view.voices.values():
            peers = {peer for peer, _, _ in voice.connects}
            if Kind.STORE_RETRY in voice.last:
                peers.add(voice.last[Kind.STORE_RETRY].fields["host"])
            if self.view.observer(voice) not in observers and peers & self.targets:
                return True
        return False

    def _folded(self) -> bool:
        """Tell whether a collector folded like lines of several processes into one."""
        return self.most_joined is None and any(
            voice.counts[Kind.LOOKUP_FAILED] > 1 and voice.last[Kind.LOOKUP_FAILED].repeats > 1
            for one in self.failing
            for voice in one.voices
            if Kind.LOOKUP_FAILED in voice.last
        )

    @staticmethod
    def _anonymous(failing: list[Failing]) -> bool:
        return bool(failing) and all(
            voice.anonymous and voice.origin.node_rank is None
            for one in failing
            for voice in one.voices
        )

    def _all_ended_so(self) -> bool:
        """Tell whether processes of several machines ended by themselves, and nobody otherwise."""
        if self.others_through or self.most_joined is not None:
            return False
        exits = self.view.exits
        return len({s.fields["node"] for s, _ in exits if s.fields["how"].startswith("Exit")}) > 1

    def _by_count(self) -> int:
        """Tell from the server's count how many machines are missing in an unlabelled log."""
        if self.most_joined is None:
            return 1
        joined, world = self.most_joined
        missing = world - joined
        if joined == 1:
            return 1 if missing <= 1 else 2
        if self.others_through:
            return 1
        return 1 if missing <= joined else 2

    def _one_block(self, numbers: list[int]) -> bool:
        """Tell whether ranks can be those of one machine: one aligned block as large as a VM's."""
        size = len(numbers)
        if self.view.tasks_are_nodes or not numbers:
            return False
        if self.most_joined is not None and not self.others_through:
            joined = self.most_joined[0]
            if size > joined or joined == 1:
                return False
        run = numbers[-1] - numbers[0] + 1 == size
        return run and size in {2, 4, 8, 16} and numbers[0] % size == 0 and numbers[0] > 0
