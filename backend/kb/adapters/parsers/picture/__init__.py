"""Pictures: opened by Pillow, read by an OCR engine."""
