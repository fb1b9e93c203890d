"""Countries by their two letters: where they lie and what they are called.

From the tables of the time-zone database, which is in the public domain: a country lies where the city of its
first time zone lies, mostly the capital; a few large ones by their middle.
"""

from __future__ import annotations

_TABLE = """\
AD 42.5 1.5 Andorra
AE 25.3 55.3 United Arab Emirates
AF 34.5 69.2 Afghanistan
AG 17.1 -61.8 Antigua & Barbuda
AI 18.2 -63.1 Anguilla
AL 41.3 19.8 Albania
AM 40.2 44.5 Armenia
AO -8.8 13.2 Angola
AR -34.6 -58.5 Argentina
AS -14.3 -170.7 Samoa
AT 48.2 16.3 Austria
AU -25 134 Australia
AW 12.5 -70 Aruba
AX 60.1 19.9 Åland Islands
AZ 40.4 49.9 Azerbaijan
BA 43.9 18.4 Bosnia & Herzegovina
BB 13.1 -59.6 Barbados
BD 23.7 90.4 Bangladesh
BE 50.8 4.3 Belgium
BF 12.4 -1.5 Burkina Faso
BG 42.7 23.3 Bulgaria
BH 26.4 50.6 Bahrain
BI -3.4 29.4 Burundi
BJ 6.5 2.6 Benin
BL 17.9 -62.9 St Barthelemy
BM 32.3 -64.8 Bermuda
BN 4.9 114.9 Brunei
BO -16.5 -68.2 Bolivia
BQ 12.2 -68.3 Caribbean NL
BR -10 -52 Brazil
BS 25.1 -77.3 Bahamas
BT 27.5 89.7 Bhutan
BW -24.6 25.9 Botswana
BY 53.9 27.6 Belarus
BZ 17.5 -88.2 Belize
CA 56 -106 Canada
CC -12.2 96.9 Cocos
CD -4.3 15.3 Congo
CF 4.4 18.6 Central African Rep.
CG -4.3 15.3 Congo
CH 47.4 8.5 Switzerland
CI 5.3 -4 Côte d'Ivoire
CK -21.2 -159.8 Cook Islands
CL -33.5 -70.7 Chile
CM 4 9.7 Cameroon
CN 35 104 China
CO 4.6 -74.1 Colombia
CR 9.9 -84.1 Costa Rica
CU 23.1 -82.4 Cuba
CV 14.9 -23.5 Cape Verde
CW 12.2 -69 Curaçao
CX -10.4 105.7 Christmas Island
CY 35.2 33.4 Cyprus
CZ 50.1 14.4 Czech Republic
DE 52.5 13.4 Germany
DJ 11.6 43.1 Djibouti
DK 55.7 12.6 Denmark
DM 15.3 -61.4 Dominica
DO 18.5 -69.9 Dominican Republic
DZ 36.8 3 Algeria
EC -2.2 -79.8 Ecuador
EE 59.4 24.8 Estonia
EG 30.1 31.2 Egypt
EH 27.1 -13.2 Western Sahara
ER 15.3 38.9 Eritrea
ES 40.4 -3.7 Spain
ET 9 38.7 Ethiopia
FI 60.2 25 Finland
FJ -18.1 178.4 Fiji
FK -51.7 -57.9 Falkland Islands
FM 7.4 151.8 Micronesia
FO 62 -6.8 Faroe Islands
FR 48.9 2.3 France
GA 0.4 9.4 Gabon
GB 51.5 -0.1 United Kingdom
GD 12.1 -61.8 Grenada
GE 41.7 44.8 Georgia
GF 4.9 -52.3 French Guiana
GG 49.5 -2.5 Guernsey
GH 5.5 -0.2 Ghana
GI 36.1 -5.3 Gibraltar
GL 64.2 -51.7 Greenland
GM 13.5 -16.6 Gambia
GN 9.5 -13.7 Guinea
GP 16.2 -61.5 Guadeloupe
GQ 3.8 8.8 Equatorial Guinea
GR 38 23.7 Greece
GS -54.3 -36.5 South Georgia & the South Sandwich Islands
GT 14.6 -90.5 Guatemala
GU 13.5 144.8 Guam
GW 11.8 -15.6 Guinea-Bissau
GY 6.8 -58.2 Guyana
HK 22.3 114.2 Hong Kong
HN 14.1 -87.2 Honduras
HR 45.8 16 Croatia
HT 18.5 -72.3 Haiti
HU 47.5 19.1 Hungary
ID -6.2 106.8 Indonesia
IE 53.3 -6.2 Ireland
IL 31.8 35.2 Israel
IM 54.1 -4.5 Isle of Man
IN 22.5 88.4 India
IO -7.3 72.4 British Indian Ocean Territory
IQ 33.4 44.4 Iraq
IR 35.7 51.4 Iran
IS 64.2 -21.9 Iceland
IT 41.9 12.5 Italy
JE 49.2 -2.1 Jersey
JM 18 -76.8 Jamaica
JO 31.9 35.9 Jordan
JP 35.7 139.7 Japan
KE -1.3 36.8 Kenya
KG 42.9 74.6 Kyrgyzstan
KH 11.6 104.9 Cambodia
KI 1.4 173 Kiribati
KM -11.7 43.3 Comoros
KN 17.3 -62.7 St Kitts & Nevis
KP 39 125.8 Korea
KR 37.5 127 Korea
KW 29.3 48 Kuwait
KY 19.3 -81.4 Cayman Islands
KZ 43.2 77 Kazakhstan
LA 18 102.6 Laos
LB 33.9 35.5 Lebanon
LC 14 -61 St Lucia
LI 47.1 9.5 Liechtenstein
LK 6.9 79.8 Sri Lanka
LR 6.3 -10.8 Liberia
LS -29.5 27.5 Lesotho
LT 54.7 25.3 Lithuania
LU 49.6 6.2 Luxembourg
LV 57 24.1 Latvia
LY 32.9 13.2 Libya
MA 33.6 -7.6 Morocco
MC 43.7 7.4 Monaco
MD 47 28.8 Moldova
ME 42.4 19.3 Montenegro
MF 18.1 -63.1 St Martin
MG -18.9 47.5 Madagascar
MH 7.2 171.2 Marshall Islands
MK 42 21.4 North Macedonia
ML 12.7 -8 Mali
MM 16.8 96.2 Myanmar
MN 47.9 106.9 Mongolia
MO 22.2 113.5 Macau
MP 15.2 145.8 Northern Mariana Islands
MQ 14.6 -61.1 Martinique
MR 18.1 -15.9 Mauritania
MS 16.7 -62.2 Montserrat
MT 35.9 14.5 Malta
MU -20.2 57.5 Mauritius
MV 4.2 73.5 Maldives
MW -15.8 35 Malawi
MX 19.4 -99.2 Mexico
MY 3.2 101.7 Malaysia
MZ -26 32.6 Mozambique
NA -22.6 17.1 Namibia
NC -22.3 166.4 New Caledonia
NE 13.5 2.1 Niger
NF -29.1 168 Norfolk Island
NG 6.5 3.4 Nigeria
NI 12.2 -86.3 Nicaragua
NL 52.4 4.9 Netherlands
NO 59.9 10.8 Norway
NP 27.7 85.3 Nepal
NR -0.5 166.9 Nauru
NU -19 -169.9 Niue
NZ -36.9 174.8 New Zealand
OM 23.6 58.6 Oman
PA 9 -79.5 Panama
PE -12.1 -77 Peru
PF -17.5 -149.6 French Polynesia
PG -9.5 147.2 Papua New Guinea
PH 14.6 121 Philippines
PK 24.9 67 Pakistan
PL 52.2 21 Poland
PM 47 -56.3 St Pierre & Miquelon
PN -25.1 -130.1 Pitcairn
PR 18.5 -66.1 Puerto Rico
PS 31.5 34.5 Palestine
PT 39.5 -8 Portugal
PW 7.3 134.5 Palau
PY -25.3 -57.7 Paraguay
QA 25.3 51.5 Qatar
RE -20.9 55.5 Réunion
RO 44.4 26.1 Romania
RS 44.8 20.5 Serbia
RU 56 50 Russia
RW -1.9 30.1 Rwanda
SA 24.6 46.7 Saudi Arabia
SB -9.5 160.2 Solomon Islands
SC -4.7 55.5 Seychelles
SD 15.6 32.5 Sudan
SE 59.3 18.1 Sweden
SG 1.3 103.8 Singapore
SH -15.9 -5.7 St Helena
SI 46 14.5 Slovenia
SJ 78 16 Svalbard & Jan Mayen
SK 48.1 17.1 Slovakia
SL 8.5 -13.2 Sierra Leone
SM 43.9 12.5 San Marino
SN 14.7 -17.4 Senegal
SO 2.1 45.4 Somalia
SR 5.8 -55.2 Suriname
SS 4.8 31.6 South Sudan
ST 0.3 6.7 Sao Tome & Principe
SV 13.7 -89.2 El Salvador
SX 18.1 -63 St Maarten
SY 33.5 36.3 Syria
SZ -26.3 31.1 Eswatini
TC 21.5 -71.1 Turks & Caicos Is
TD 12.1 15.1 Chad
TF -49.4 70.2 French S. Terr.
TG 6.1 1.2 Togo
TH 13.8 100.5 Thailand
TJ 38.6 68.8 Tajikistan
TK -9.4 -171.2 Tokelau
TL -8.6 125.6 East Timor
TM 38 58.4 Turkmenistan
TN 36.8 10.2 Tunisia
TO -21.1 -175.2 Tonga
TR 41 29 Turkey
TT 10.7 -61.5 Trinidad & Tobago
TV -8.5 179.2 Tuvalu
TW 25.1 121.5 Taiwan
TZ -6.8 39.3 Tanzania
UA 45 34.1 Ukraine
UG 0.3 32.4 Uganda
UM 28.2 -177.4 US minor outlying islands
US 39.8 -98.6 United States
UY -34.9 -56.2 Uruguay
UZ 39.7 66.8 Uzbekistan
VA 41.9 12.5 Vatican City
VC 13.2 -61.2 St Vincent
VE 10.5 -66.9 Venezuela
VG 18.4 -64.6 Virgin Islands
VI 18.4 -64.9 Virgin Islands
VN 10.8 106.7 Vietnam
VU -17.7 168.4 Vanuatu
WF -13.3 -176.2 Wallis & Futuna
WS -13.8 -171.7 Samoa
YE 12.8 45.2 Yemen
YT -12.8 45.2 Mayotte
ZA -26.2 28 South Africa
ZM -15.4 28.3 Zambia
ZW -17.8 31.1 Zimbabwe
"""


def _read() -> dict[str, tuple[float, float, str]]:
    lines = (line.split(" ", 3) for line in _TABLE.splitlines())
    return {code: (float(north), float(east), name) for code, north, east, name in lines}


COUNTRIES = _read()
"""Two letters to latitude (north), longitude (east), both in degrees, and name."""


def place_of(country: str) -> tuple[float, float] | None:
    """Return latitude and longitude of a country by its two letters or its name; None if it is not known."""
    found = COUNTRIES.get(country.upper()) or _BY_NAME.get(country.lower())
    return found[:2] if found else None


def name_of(country: str) -> str:
    """Return the name of a country; what is not known is returned as it is."""
    found = COUNTRIES.get(country.upper())
    return found[2] if found else country


_BY_NAME = {place[2].lower(): place for place in COUNTRIES.values()}
