"""Languages in names of models: codes of two and three letters, and English names."""

from __future__ import annotations

import re
from functools import lru_cache

# ISO 639-1 (or - if there is none), ISO 639-3, and the name as treebanks write it.
_LANGUAGES = """
- abq abaza, - akk akkadian, - aqz akuntsu, af afr afrikaans, sq sqi albanian, am amh amharic,
- grc ancient_greek, - hbo ancient_hebrew, ar ara arabic, hy hye armenian, - aii assyrian,
az aze azerbaijani, bm bam bambara, eu eus basque, - bej beja, be bel belarusian, bn ben bengali,
- bho bhojpuri, br bre breton, bg bul bulgarian, - bxr buryat, - yue cantonese, ca cat catalan,
- ceb cebuano, zh zho chinese, - ckt chukchi, - xcl classical_armenian, - lzh classical_chinese,
- cop coptic, hr hrv croatian, cs ces czech, da dan danish, nl nld dutch, - egy egyptian,
en eng english, - myv erzya, et est estonian, fo fao faroese, fi fin finnish, fr fra french,
gl glg galician, ka kat georgian, de deu german, - got gothic, el ell greek, gn grn guarani,
gu guj gujarati, ht hat haitian_creole, ha hau hausa, he heb hebrew, hi hin hindi, - hit hittite,
hu hun hungarian, is isl icelandic, id ind indonesian, ga gle irish, it ita italian,
ja jpn japanese, jv jav javanese, kk kaz kazakh, - kpv komi_zyrian, ko kor korean,
- kmr kurmanji, ky kir kyrgyz, la lat latin, lv lav latvian, lt lit lithuanian,
- olo livvi, - nds low_saxon, lb ltz luxembourgish, mk mkd macedonian, ml mal malayalam,
mt mlt maltese, gv glv manx, mr mar marathi, - mdf moksha, - pcm naija, - sme north_sami,
no nor norwegian, oc oci occitan, cu chu old_church_slavonic, - orv old_east_slavic,
- fro old_french, - ota ottoman_turkish, fa fas persian, pl pol polish, - qpm pomak,
pt por portuguese, ro ron romanian, ru rus russian, sa san sanskrit, gd gla scottish_gaelic,
sr srp serbian, si sin sinhala, sk slk slovak, sl slv slovenian, es spa spanish, sv swe swedish,
- gsw swiss_german, tl tgl tagalog, ta tam tamil, tt tat tatar, te tel telugu, th tha thai,
tr tur turkish, uk ukr ukrainian, - hsb upper_sorbian, ur urd urdu, ug uig uyghur, uz uzb uzbek,
vi vie vietnamese, cy cym welsh, - hyw western_armenian, wo wol wolof, - sah yakut, yo yor yoruba
"""
_LONGEST = 3  # words of a name


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    """Return the shortest code of each code and name."""
    codes: dict[str, str] = {}
    for entry in _LANGUAGES.split(","):
        short, long, name = entry.split()
        codes |= dict.fromkeys(
            (short, long, name.replace("_", "-")), long if short == "-" else short
        )
    return codes


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of the name of a model: the code of its language first, if it begins so.

    Examples
    --------
    >>> parts_of("english-ewt-ud-2.15"), parts_of("eng"), parts_of("Ancient_Greek-Perseus")
    (('en', 'ewt', 'ud', '2.15'), ('en',), ('grc', 'perseus'))
    >>> parts_of("upos")
    ('upos',)
    """
    parts = re.split("[-_]", name.lower())
    for count in range(_LONGEST, 0, -1):
        code = _codes().get("-".join(parts[:count]))
        if code:
            return (code, *parts[count:])
    return tuple(parts)
