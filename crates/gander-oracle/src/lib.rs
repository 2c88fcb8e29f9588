//! A brute-force oracle and a generator of random small systems, to test gander's engines.
