"""Kill the process that carries steps out, everywhere: nothing is done twice, nothing lost."""
