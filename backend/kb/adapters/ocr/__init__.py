"""Text on pictures: RapidOCR for Latin, Chinese and Japanese, Tesseract for Korean."""
