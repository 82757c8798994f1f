"""PDF: pages read by PyMuPDF, by a second reader where it sees little, by recognition where there is only a picture."""
