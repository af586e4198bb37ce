"""The Web API's methods, one table and a file for each family."""
