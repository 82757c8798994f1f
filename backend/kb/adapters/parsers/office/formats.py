"""Which of a workbook's numbers are dates, and how the others are shown (ECMA-376 part 1, 18.8.30)."""

from __future__ import annotations

from kb.adapters.parsers.office.elements import below, child, whole
from kb.adapters.parsers.office.values import moment, plain, shown
from kb.adapters.parsers.shared.xml import Element

_GENERAL = "General"


class CellFormats:
    """Number formats by the number of a cell's style."""

    def __init__(self, styles: Element, *, counts_from_1904: bool) -> None:
        from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format
        from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

        self._epoch = CALENDAR_MAC_1904 if counts_from_1904 else CALENDAR_WINDOWS_1900
        self._from_excel = from_excel
        codes: dict[str, str] = {str(number): code for number, code in BUILTIN_FORMATS.items()}
        self._formats: list[str] = []
        if styles is not None:
            for element in below(styles, "numFmt"):
                codes[element.get("numFmtId") or ""] = element.get("formatCode") or _GENERAL
            listed = child(styles, "cellXfs")
            for style in listed if listed is not None else ():
                self._formats.append(codes.get(style.get("numFmtId") or "0", _GENERAL))
        self._dates = {code for code in set(self._formats) if is_date_format(code)}

    def shown(self, text: str, style: str | None) -> str:
        """Return a number cell's text as a person reads it; `style` is the number of its style."""
        try:
            value = float(text)
        except ValueError:
            return text
        index = whole(style) or 0
        code = self._formats[index] if index < len(self._formats) else _GENERAL
        if code == _GENERAL:
            return plain(value)
        if code in self._dates:
            try:
                return moment(self._from_excel(value, self._epoch, timedelta="[h]" in code.lower()))
            except (OverflowError, ValueError, TypeError):
                return plain(value)
        return shown(value, code)
