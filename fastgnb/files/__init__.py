"""Tables in and out, model files, and jobs over them."""
