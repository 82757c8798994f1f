"""In which order files are read: quick ones first, so that a long recording keeps nobody waiting."""

from __future__ import annotations

_PACKAGES = (
    "docx docm dotx pptx pptm ppsx xlsx xlsm xltx xls odt ods odp rtf epub msg mbox eml ipynb html htm zip tar tgz gz"
)
_PAGES = "pdf png jpg jpeg jpe webp gif tif tiff bmp heic heif avif"
_SOUND = "mp3 m4a m4b aac wav flac ogg oga opus wma aiff aif amr mp4 m4v mov mkv webm avi wmv mpg mpeg 3gp"
_WEIGHTS = {suffix: weight for weight, names in enumerate((_PACKAGES, _PAGES, _SOUND), 1) for suffix in names.split()}


def weight_of(path: str) -> int:
    """Return 0 for text, 1 for packages and mail, 2 for pages and pictures, 3 for sound, told by the suffix alone."""
    return _WEIGHTS.get(path.rpartition(".")[2].lower(), 0)
