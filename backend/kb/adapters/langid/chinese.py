"""Simplified or traditional: common letters that only one of the two writes (from OpenCC's tables)."""

from __future__ import annotations

import re

_SIMPLIFIED = (
    "为个时组会国这数学来与对们应类过将内线并动长现开区种属实东亚间场经称选该进车设语传参尔电项单赛号两关调马态队义响"
    "无军鱼龙处鳍运从达务员变业则样标节条点计状机岛构联头问创约认广试华结说视编罗导统获带产门没层战还声级兰较码总乐别"
    "请载细译转画听陆铁写齿见确离户题给际群连况显纪换书资议测论风简侧仅决历专县触举访张执许环维黄权气剧记规师阳辑练汉"
    "钩终块装观赖团读随领绑错协强侦续园报击质递双职详亲办册网"
)
_TRADITIONAL = (
    "為個時組會國這數學來與對們應類過將內線並動長現開區種屬實東亞間場經稱選該進車設語傳參爾電項單賽號兩關調馬態隊義響"
    "無軍魚龍處鰭運從達務員變業則樣標節條點計狀機島構聯頭問創約認廣試華結說視編羅導統獲帶產門沒層戰還聲級蘭較碼總樂別"
    "請載細譯轉畫聽陸鐵寫齒見確離戶題給際連況顯紀換書資議測論風簡側僅決歷專縣觸舉訪張執許環維黃權氣劇記規師陽輯練漢"
    "鉤終塊裝觀賴團讀隨領綁錯協強偵續園報擊質遞雙職詳親辦冊網"
)
_BOTH = set(_SIMPLIFIED) & set(_TRADITIONAL)
_ONLY_SIMPLIFIED = re.compile(f"[{''.join(sorted(set(_SIMPLIFIED) - _BOTH))}]")
_ONLY_TRADITIONAL = re.compile(f"[{''.join(sorted(set(_TRADITIONAL) - _BOTH))}]")


def chinese_script(text: str) -> str:
    """Return `zh-Hant` when traditional letters are in the majority, else `zh-Hans`."""
    traditional = len(_ONLY_TRADITIONAL.findall(text))
    return "zh-Hant" if traditional > len(_ONLY_SIMPLIFIED.findall(text)) else "zh-Hans"
