"""The way of one paste or job, from what a person gave to what is wrong and what may be done."""
