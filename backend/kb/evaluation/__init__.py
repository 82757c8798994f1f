"""How good is search, and is it better or worse than before?"""
