"""Copy a job's output where it lies, before a new run truncates it. Pure: the runner is elsewhere.

Slurm opens a batch job's files anew at each start and truncates them (`--open-mode`, sbatch(1)).
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.schedulers.reruns import CopiedLog

#: Of one file: its path, what the copy is called beside it, and what in a folder of ours.
#: A name that is taken by the same content is a copy that was made before; one that is taken by
#: anything else is left alone, and the next number tried (`true` and not `:`: a shell ends where a
#: special built-in cannot be redirected). `set -C` opens what it makes with O_EXCL,
#: which follows no link. The size is taken first: the file may still grow.
_COPY = r"""
set -C; f=$1; size=$(wc -c <"$f") || exit 1; size=$((size));
for base in "$2" "$3"; do
  [ "$base" ] || continue;
  case $base in "$3") mkdir -p -m 700 -- "${base%/*}" 2>/dev/null;; esac;
  for n in 1 2 3 4 5 6 7 8 9; do
    d=$base; [ $n = 1 ] || d=$base.$n;
    if [ -f "$d" ] && [ ! -L "$d" ] && [ "$(($(wc -c <"$d")))" = "$size" ] &&
      head -c "$size" <"$f" | cmp -s - "$d"; then
      printf 'same %s %s\n' "$size" "$d"; exit 0;
    fi;
    if [ -e "$d" ] || [ -L "$d" ]; then continue; fi;
    { true >"$d"; } 2>/dev/null || break;
    if head -c "$size" <"$f" >>"$d" 2>/dev/null && head -c "$size" <"$f" | cmp -s - "$d"; then
      touch -r "$f" -- "$d" 2>/dev/null; chmod --reference="$f" -- "$d" 2>/dev/null;
      [ "$4" ] && setfacl -m "u:$4:r" -- "$d" 2>/dev/null;
      printf 'new %s %s\n' "$size" "$d"; exit 0;
    fi;
    rm -f -- "$d"; break;
  done;
done;
exit 1
"""
#: Arguments: a mark, the copying program, what the copies are called behind their file's name, the
#: name of our folder in our home, the job's user, then the files. Root copies as that user:
#: whoever names a file, and the folders on the way to it, gets no more than is theirs.
_LINES = r"""
LC_ALL=C; export LC_ALL; umask 077;
mark=$1; copy=$2; end=$3; folder=$4; user=$5; shift 5; number=0;
as=; own=;
if [ "$(id -u)" = 0 ]; then [ "$user" = root ] || as=1;
elif [ "$HOME" ]; then own=$HOME/nccl-dns-kept/$folder; fi;
for f in "$@"; do
  number=$((number + 1)); mine=; [ "$own" ] && mine=$own/$number-${f##*/}$end;
  printf '%s ' "$mark";
  if [ "$as" ]; then runuser -u "$user" -- sh -c "$copy" sh "$f" "$f$end" "" "";
  else sh -c "$copy" sh "$f" "$f$end" "$mine" "$user"; fi || printf 'failed 0 -\n';
done;
printf '%s end\n' "$mark"
"""


def _one_line(text: str) -> str:
    # a word with line feeds is not sent, since login shells differ on it
    return " ".join(line.strip() for line in text.splitlines() if line)


COPY = _one_line(_COPY)
PROGRAM = _one_line(_LINES)


def argv(mark: str, paths: Sequence[str], *, run: int, folder: str, user: str) -> tuple[str, ...]:
    """Return the command that copies these files; `run` counts the runs of the job from 0."""
    return ("sh", "-c", PROGRAM, "sh", mark, COPY, f".run{run}", folder, user, *paths)


def copied(output: str, mark: str, paths: Sequence[str]) -> tuple[CopiedLog | None, ...]:
    """Return what became of each file: its copy, or None where it was not copied."""
    said = [line[len(mark) + 1 :] for line in output.splitlines() if line.startswith(f"{mark} ")]
    found: list[CopiedLog | None] = []
    for path, line in zip(paths, said, strict=False):
        how, _, rest = line.partition(" ")
        size, _, copy = rest.partition(" ")
        made = how in {"new", "same"} and size.isdigit() and bool(copy)
        found.append(
            CopiedLog(path=path, copy=copy, size_bytes=int(size), already=how == "same")
            if made
            else None
        )
    return (*found, *[None] * (len(paths) - len(found)))
