"""Words left out of the docstring corpus: common English, and the boilerplate of API documentation."""

ENGLISH_WORDS = frozenset(
    """
    about above according across actually after again against all allow allowed allows almost along already also
    although always among and another any anything apart are aren around assume assumed available away back based
    be became because become becomes been before behave being below best better between beyond both but call called
    calling calls can cannot case cases certain cf close closely come comes common commonly compared consider
    considered consists contain contained containing contains correct correctly corresponding corresponds could
    couldn current currently default defaults define defined defines depending depends describe described describes
    desired detail details did didn differ different directly discussion do does doesn doing don done down due
    during each earlier easily effect either else empty enough ensure especially essentially etc even every
    everything exactly except exist existing exists expect expected explicitly far few final finally find first
    following follows for form forms found four from full fully further general generally get gets getting give
    given gives giving go good had hand handle handled has have haven having help helper hence her here high higher
    his how however identical ignore ignored ignores implement implementation implemented implementing implements
    important include included includes including indeed indicate indicates indicating inside instead intended
    internal internally into is isn issue issues it its itself just keep kept kind know known large larger largest
    last later latter least leave left less let like likely long longer look low lower made main mainly major make
    makes making many may maybe mean meaning means meant might mode more moreover most mostly much multiple must
    name named namely names near nearly necessarily necessary need needed needs neither never new next no non none
    nor normal normally not note noted notes nothing now number numbers of off often old on once one ones only onto
    or order original other others otherwise our out over own part particular parts pass passed passes passing
    perform performed performs place please possible possibly practice previous previously probably problem
    problems produce produced produces proper properly provide provided provides purpose put quite rather really
    reason recommended refer refers regardless related relevant remaining represent represented representing
    represents require required requires respectively result resulting results return returned returning returns
    right said same say second section see seem seen select selected separate set sets setting several shall she
    should shouldn show shown shows similar similarly simple simply since single small smaller smallest so some
    something sometimes somewhat soon special specific specifically specified specifies specify standard start
    still stop store stored such support supported supports sure take taken takes taking than that the their them
    themselves then there therefore these they thing things this those though three through throughout thus time to
    together too total toward towards tried tries true try trying twice two type types typical typically under
    unless unlike until up upon upper usage use used useful user users uses using usual usually various version
    very via want wanted was wasn way ways we well were weren what when whenever where whereas whether which while
    who whole whose why will wish with within without won work works would wouldn yes yet you your zero
    """.split()  # noqa: SIM905 - a list of five hundred quoted words is not readable
)

DOCSTRING_WORDS = frozenset(
    """
    added alias api appropriate arg args argument arguments array arraylike arrays attribute attributes autosummary
    axes axis begin bool boolean bytes callable cdot cdots changed class classes code compat compatibility
    component consistent convention convert copy data default deprecated dict dictionary dimension dimensional
    dimensions doc docs docstring documentation dtype element elements enabled equal equivalent estimator
    estimators example examples false feature features fit fitted float frac func function functions guide
    implementation import index indicator inf info input inputs int integer integers interface item items iterable
    keyword kwargs ldots len length level list lists math mathbf mathrm metadata meth method methods mod model
    module modules nan ndarray numeric numpy obj object objects option optional options output outputs package
    param parameter parameters params predict print private property public pyplot python raise raised raises
    random readable real ref reference references requested return returns routing rst sample samples scikit scipy
    see seealso self sequence shape size sklearn step str string strings subclass tag toctree tuple tuples type
    uint value values variable variables versionadded versionchanged warning warnings wrapper
    """.split()  # noqa: SIM905
)
