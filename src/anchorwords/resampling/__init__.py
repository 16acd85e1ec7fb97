"""How sure a model is: its documents drawn again, and its topics learned anew."""
