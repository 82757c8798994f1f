"""Recordings, and the sound of video."""
