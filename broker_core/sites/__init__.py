"""Computing-element adapters: one small contract, one adapter for each kind of site."""
