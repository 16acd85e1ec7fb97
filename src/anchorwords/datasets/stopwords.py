"""Words left out of the docstring corpus besides English stop words: common verbs, and boilerplate of documentation."""

_WORDS = """
    according actually added alias allow allowed allows apart api appropriate arg args argument arguments array
    arraylike arrays assume assumed attribute attributes autosummary available away axes axis based begin behave best
    better bool boolean bytes call callable called calling calls case cases cdot cdots certain cf changed class classes
    close closely code come comes common commonly compared compat compatibility component consider considered consistent
    consists contain contained containing contains convention convert copy correct correctly corresponding corresponds
    current currently data default defaults define defined defines depending depends deprecated describe described
    describes desired detail details dict dictionary differ different dimension dimensional dimensions directly
    discussion doc docs docstring documentation dtype earlier easily effect element elements empty enabled ensure equal
    equivalent especially essentially estimator estimators exactly example examples exist existing exists expect
    expected explicitly false far feature features final finally fit fitted float following follows form forms frac full
    fully func function functions general generally gets getting given gives giving good guide hand handle handled help
    helper high higher identical ignore ignored ignores implement implementation implemented implementing implements
    import important include included includes including index indicate indicates indicating indicator inf info input
    inputs inside instead int integer integers intended interface internal internally issue issues item items iterable
    kept keyword kind know known kwargs large larger largest later ldots leave left len length let level like likely
    list lists long longer look low lower main mainly major make makes making math mathbf mathrm mean meaning means
    meant metadata meth method methods mod mode model module modules multiple name named names nan ndarray nearly
    necessarily necessary need needed needs new non normal normally note noted notes number numbers numeric numpy obj
    object objects old ones option optional options order original output outputs package param parameter parameters
    params particular parts pass passed passes passing perform performed performs place possible possibly practice
    predict previous previously print private probably problem problems produce produced produces proper properly
    property provide provided provides public purpose pyplot python raise raised raises random readable real reason
    recommended ref refer reference references refers regardless related relevant remaining represent represented
    representing represents requested require required requires respectively result resulting results return returned
    returning returns right routing rst said sample samples say scikit scipy second section seealso seen select selected
    self separate sequence set sets setting shape shown shows similar similarly simple simply single size sklearn small
    smaller smallest somewhat soon special specific specifically specified specifies specify standard start step stop
    store stored str string strings subclass support supported supports sure tag taken takes taking thing things time
    toctree total tried tries true try trying tuple tuples twice type types typical typically uint upper usage use used
    useful user users uses using usual usually value values variable variables various version versionadded
    versionchanged want wanted warning warnings way ways wish work works wrapper zero
"""

# As TextVectorizer takes them.
DOCSTRING_STOP_WORDS = ("english", *_WORDS.split())
