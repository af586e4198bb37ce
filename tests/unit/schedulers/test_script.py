"""Prove what is believed of a batch script, and what is not."""

from __future__ import annotations

import pytest

from bot.schedulers.model import Job, JobState
from bot.schedulers.slurm.script import read

JOB = Job(
    id="48213",
    cluster="hall",
    state=JobState.FAILED,
    raw_state="FAILED",
    name="pretrain",
    user="ada",
    work_dir="/home/ada/run",
)
HEAD = "#!/bin/bash\n#SBATCH -N4\n"


@pytest.mark.parametrize(
    ("lines", "distribution"),
    [
        ("srun python train.py", "block"),
        ("srun -m cyclic python train.py", "cyclic"),
        ("srun -mcyclic:block python train.py", "cyclic:block"),
        ("srun --distribution=plane=4 python train.py", "plane=4"),
        ("time srun -N4 \\\n  --distribution cyclic \\\n  python train.py", "cyclic"),
        ("#SBATCH --distribution=cyclic\nsrun python train.py", "cyclic"),
        ("#SBATCH -m cyclic\nsrun -m block python train.py", "block"),
        ("export SLURM_DISTRIBUTION=cyclic\nsrun python train.py", "cyclic"),
        ("OMP_NUM_THREADS=4 exec /usr/bin/srun -m cyclic ./a", "cyclic"),
        ("srun hostname\nsrun -m cyclic python train.py", None),
        ("srun -m cyclic ./a\nsrun -m cyclic ./b", "cyclic"),
        ("srun -m $DIST python train.py", None),
        ("bash inner.sh", None),
        ("srun python train.py -m cyclic", "block"),
        ("# srun -m cyclic python train.py\nsrun python train.py", "block"),
        ("echo 'srun -m cyclic' \nmpirun ./a", None),
        ("srun -n 8 bash -c '\necho -m cyclic\n'", "block"),
        ("", None),
    ],
)
def test_the_distribution_of_every_srun(lines: str, distribution: str | None) -> None:
    """Told only where each srun says the same in plain words, srun's default included."""
    assert read(f"{HEAD}{lines}\n", JOB).distribution == distribution


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        ("srun python train.py", True),
        ("srun -l --mpi=pmix -m block python train.py -N 1", True),
        ("srun bash -c 'torchrun --nproc-per-node 8 train.py'", True),
        ("srun ./a\nsrun ./b", True),
        ("srun -N1 python train.py", False),
        ("srun --ntasks=8 python train.py", False),
        ("srun -w n3 ./a", False),
        ("srun ./a\nsrun -n 1 ./b", False),
        ("hostname && srun -N1 ./a", False),
        ("export SLURM_NNODES=2\nsrun ./a", False),
        ("SLURM_HOSTFILE=hosts srun ./a", False),
        ("bash inner.sh", False),
        ("torchrun train.py", False),
        ("", False),
    ],
)
def test_a_step_takes_all_of_its_job_unless_it_asks_for_less(lines: str, *, whole: bool) -> None:
    """Only then do the job's nodes and tasks say where the step's ranks ran."""
    assert read(f"{HEAD}{lines}\n", JOB).whole_job is whole


def test_outputs_of_steps_and_of_torchrun() -> None:
    """Slurm's own variables are filled in; paths that hang on others are named as unknown."""
    said = read(
        f"{HEAD}"
        "srun -o step-%t.log --error=$SLURM_SUBMIT_DIR/err-${SLURM_JOB_ID}.log ./a\n"
        "srun --output ~/x.log ./b\n"
        "srun -o $LOGS/%j.log ./c\n"
        "torchrun --nnodes 4 --log-dir=/scratch/$SLURM_JOB_NAME --tee 3 train.py\n"
        "srun bash -c 'ulimit -n 9' ; python -m torch.distributed.run --log_dir tr train.py\n",
        JOB,
    )

    assert said.outputs == ("step-%t.log", "/home/ada/run/err-48213.log")
    assert said.log_dirs == ("/scratch/pretrain", "tr")
    assert said.unknown == ("~/x.log", "$LOGS/%j.log")


@pytest.mark.parametrize("script", ["", "\0\0", "srun 'unclosed", "srun -m", "#SBATCH -o"])
def test_a_broken_script_says_nothing(script: str) -> None:
    """No script breaks the reading."""
    assert read(script, JOB).outputs == ()
