"""Numbers only: phi, decoding, learning, keys; arrays in, arrays out, on either backend."""
