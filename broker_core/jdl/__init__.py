"""ClassAd and JDL: parse, check, evaluate, write. Pure."""
