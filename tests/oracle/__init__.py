"""The readable twin of the parts of the kernel that seqtag has nowhere else."""
