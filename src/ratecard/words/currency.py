"""Currencies: those of price lists (ISO 4217), and the balances of an account, which pay in US dollars."""

from ratecard.words.suggest import did_you_mean

USD = "USD"
# In the order in which an account pays; what one is worth is stated in limits.yaml. VCU is an older unit without a
# published worth: it counts as nothing until a rate is stated there.
BALANCES = ("DIEM", "BUNDLED_CREDITS", "VCU")
# Of these every reader knows that they pay in US dollars.
CURRENCIES = (USD, "DIEM", "BUNDLED_CREDITS")
# The codes in use (ISO 4217, 2026), and BGN, which ended with 2025. Funds, metals and test codes are not prices.
_CODES = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF
IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD
MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB
RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD
UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
ISO_4217 = frozenset(_CODES.split())


def in_usd(currency: str) -> bool:
    """Whether what is charged in a currency is priced in US dollars: dollars, and the balances of an account.

    >>> in_usd("DIEM"), in_usd("EUR")
    (True, False)
    """
    return currency == USD or currency in BALANCES


def unknown_currency(given: str, *, vcu: bool = False) -> str:
    """Why a currency is not one of a ledger, and what is allowed; empty for one that is. `vcu`: a rate is stated.

    >>> unknown_currency("usd")
    "is not known. Did you mean 'USD'? Allowed: USD, DIEM, BUNDLED_CREDITS or another ISO 4217 code"
    """
    if given in CURRENCIES or given in ISO_4217 or (given == "VCU" and vcu):
        return ""
    allowed = f"Allowed: {', '.join(CURRENCIES)} or another ISO 4217 code"
    if given == "VCU":
        return f"has no stated rate. {allowed}"
    return f"is not known.{did_you_mean(given, (*CURRENCIES, *sorted(ISO_4217)))} {allowed}"
