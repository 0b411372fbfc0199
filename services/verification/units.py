"""The currencies, scales and units that numbers are written with, and what each is compared in."""

import re
from collections.abc import Iterable
from decimal import Decimal

_CURRENCIES_BY_CODE = {
    "USD": "$ US$ dollar dollars|US dollars|U.S. dollars",
    "EUR": "€ euro euros",
    "GBP": "£ sterling pounds|pounds sterling|British pounds",
    "JPY": "¥ yen|Japanese yen",
    "CHF": "Fr. francs|Swiss francs",
    "CAD": "C$ CA$|Canadian dollars",
    "AUD": "A$ AU$|Australian dollars",
    "NZD": "NZ$|New Zealand dollars",
    "HKD": "HK$|Hong Kong dollars",
    "SGD": "S$|Singapore dollars",
    "CNY": "RMB yuan renminbi",
    "INR": "₹ Rs. Rs rupee rupees|Indian rupees",
    "RUB": "₽ rouble roubles rubles",
    "KRW": "₩ won",
    "TRY": "₺ lira",
    "ILS": "₪ shekel shekels NIS",
    "SEK": "|Swedish kronor|Swedish krona",
    "NOK": "|Norwegian kroner",
    "DKK": "|Danish kroner",
    "PLN": "zł zloty",
    "BRL": "R$ reais",
    "MXN": "|Mexican pesos",
    "ZAR": "rand",
    **dict.fromkeys(("CZK", "HUF", "AED", "SAR"), ""),
}
CODES = frozenset(_CURRENCIES_BY_CODE)
# Each name of a currency, as a sign, a code or a word.
CURRENCIES = {code: code for code in CODES} | {
    name: code
    for code, listed in _CURRENCIES_BY_CODE.items()
    for name in [*listed.partition("|")[0].split(), *listed.split("|")[1:]]
    if name
}
# These stand before a number: signs, and codes.
SIGNS = frozenset(n for n in CURRENCIES if not n.isalpha() and " " not in n) | CODES | {"RMB", "Rs"}
POWERS_OF_TEN = {
    name: power
    for power, names in {
        2: "hundred",
        3: "thousand k",
        5: "lakh lakhs",
        6: "million millions m mm mn mln mio Millionen",
        7: "crore crores",
        9: "billion billions b bn bln Milliarden milliards",
        12: "trillion trillions tn trn",
    }.items()
    for name in names.split()
}

# By what they are compared in: the names of a unit, and how many of that one of it is.
_FAMILIES = {
    "second": {
        "second sec": "1",
        "minute min": "60",
        "hour hr": "3600",
        "day|calendar day": "86400",
        "week": "604800",
    },
    "month": {"month": "1", "quarter": "3", "year yr": "12", "decade": "120"},
    "business day": {"|business day|working day|banking day": "1"},
    "trading day": {"|trading day": "1"},
    "gram": {
        "µg μg mcg microgram": "1E-6",
        "mg milligram": "1E-3",
        "g gram gramme": "1",
        "kg kilogram kilo": "1E3",
        "tonne|metric ton|metric tonne": "1E6",
        "kilotonne": "1E9",
    },
    "pound": {"lb lbs": "1", "ounce oz": "0.0625"},
    "ton": {"ton": "1"},
    "metre": {
        "mm millimetre millimeter": "1E-3",
        "cm centimetre centimeter": "1E-2",
        "metre meter": "1",
        "km kilometre kilometer": "1E3",
    },
    "foot": {"inch inches": "0.0833333333", "foot feet ft": "1", "yard": "3", "mile": "5280"},
    "nautical mile": {"|nautical mile": "1"},
    "square metre": {
        "sqm m²|square metre|square meter|sq m": "1",
        "hectare ha": "1E4",
        "km²|square kilometre|square kilometer|sq km": "1E6",
    },
    "square foot": {
        "sqft ft²|square foot|square feet|sq ft": "1",
        "acre": "43560",
        "|square mile": "27878400",
    },
    "cubic metre": {"m³|cubic metre|cubic meter": "1"},
    "cubic foot": {"ft³|cubic foot|cubic feet": "1"},
    "litre": {
        "ml mL millilitre milliliter": "1E-3",
        "cl": "1E-2",
        "litre liter L": "1",
        "hectolitre hl": "1E2",
    },
    "gallon": {"gallon": "1"},
    "barrel": {"barrel bbl": "1"},
    "watt": {"mW milliwatt": "1E-3", "W watt": "1", "kW kilowatt": "1E3", "MW megawatt": "1E6"}
    | {"GW gigawatt": "1E9", "TW terawatt": "1E12"},
    "watt hour": {"Wh": "1", "kWh|kilowatt hour": "1E3", "MWh": "1E6", "GWh": "1E9", "TWh": "1E12"},
    "byte": {"kB KB kilobyte": "1E3", "MB megabyte": "1E6", "GB gigabyte": "1E9"}
    | {"TB terabyte": "1E12"},
    "volt": {"V volt": "1", "kV kilovolt": "1E3"},
    "hertz": {"Hz": "1", "kHz": "1E3", "MHz": "1E6", "GHz": "1E9"},
    "joule": {"J joule": "1", "kJ": "1E3", "MJ": "1E6", "GJ": "1E9"},
    "calorie": {"kcal": "1E3", "cal": "1"},
    "°C": {"°C|degrees Celsius|degree Celsius": "1"},
    "°F": {"°F|degrees Fahrenheit|degree Fahrenheit": "1"},
    "‰": {"‰|per mille|per mil": "1"},
}
# By the unit it is compared in: each unit with how many of those it is.
UNITS = {
    name: (common, Decimal(factor))
    for common, units in _FAMILIES.items()
    for listed, factor in units.items()
    for name in [*listed.partition("|")[0].split(), *listed.split("|")[1:]]
}
# Lengths of time that have no fixed ratio: 30 days are not a month.
DURATIONS = frozenset({"second", "month", "business day", "trading day"})


def any_name(names: Iterable[str]) -> str:
    """The pattern of any of some names, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
