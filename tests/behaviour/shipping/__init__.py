"""What is shipped: the wheel, the image's recipe, and the services beside it."""
