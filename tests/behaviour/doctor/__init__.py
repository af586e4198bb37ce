"""Rules of the doctor with services, in memory and real."""
