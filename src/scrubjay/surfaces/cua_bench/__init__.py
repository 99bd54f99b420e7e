"""A scrubjay agent that cua-bench can run: `scrubjay.surfaces.cua_bench.agent:ScrubjayAgent`."""
