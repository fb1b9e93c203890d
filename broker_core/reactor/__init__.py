"""Reactors: pure parts that decide; a core that routes events among them; who carries their effects out."""
