"""Ask a scheduler about a job, its nodes and its logs, and take nodes out of and into service.

`port` is what the rest of the product speaks to; `slurm` reaches real clusters, `memory` is the
same port without one. `ids` reads what people paste for a job.
"""
