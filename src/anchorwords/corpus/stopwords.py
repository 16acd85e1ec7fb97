"""Stop words: function words of a language, words of a file, words as given, or all of these together.

The English list is scikit-learn's ``ENGLISH_STOP_WORDS`` (BSD 3-Clause licence; first compiled by the Glasgow Information
Retrieval Group), without the content words in it and with the contractions that it lacks. The lists of the other languages
are our own, under the licence of this package.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from ..exceptions import InputError

# Words of scikit-learn's list that say what a text is about: they are not removed.
_ENGLISH_CONTENT = frozenset(
    """
    amount bill bottom call con cry describe detail empty fill fire front full interest mill mine move name serious side
    sincere system thick thin top un
    """.split()  # noqa: SIM905
)

# Function words only: articles, pronouns, prepositions, conjunctions, auxiliaries and the commonest adverbs. What a text
# is about must stay. Single letters and stumps such as "qu" or "dell" are what an apostrophe leaves when it separates words.
_WORDS: dict[str, str] = {
    "danish": """
        ad af aldrig alle allerede alligevel alt altid altså anden andet andre at bag bare begge blandt blev blevet
        blive bliver burde både bør da de dem den denne dens der derefter deres derfor derfra dermed derved desuden det
        dets dette dig din dine disse dit dog du efter eftersom ej eller ellers en end endnu enhver enten er et for
        foran fordi fra før gennem haft ham han hans har havde have hele helt hen hende hendes her hos hun hvad hvem
        hver hverken hvert hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i idet igen igennem ikke imellem
        imens imod ind inden indtil ingen intet ja jeg jer jeres jo kan kun kunne kunnet langs lige man mange med mellem
        men mens mere mest mig min mindre mindst mine mit mod må måske måtte ned nej nogen noget nogle nok nu når nær
        næsten og også om omkring op os over på s samme samt selv siden sig sin sine sit skal skulle snart som stadig så
        sådan sådanne således til trods ud uden under undtagen var ved vi via vil ville villet vor vore vores være været
    """,
    "dutch": """
        aan aangezien achter af al alle alleen alles als altijd ander andere anderen ben bent bij binnen boven bovendien
        buiten daar daarbij daardoor daarin daarmee daarna daarom daarvan dan dat de den der des deze dezelfde die dit
        door dus echter een elk elke en enige enkele er erg ergens erop ervan geen gehad geweest geworden had hadden heb
        hebben hebt heeft heel hem hen het hier hij hoe hoewel hun ieder iedere iedereen iemand iets ik in indien is ja
        je jij jou jouw jullie kan kon konden kunnen kunt m maar mag me meer meest men met mij mijn mocht moest moesten
        moet moeten mogen n na naar naast nadat nee net niemand niet niets nog nogal nooit nu of om omdat onder ongeveer
        ons onze ook op over per reeds s sinds sommige soms steeds t te tegen tenzij terwijl tijdens toch toe toen tot
        totdat tussen u uit uw vaak van vanaf vanuit vanwege veel vele via volgens voor vooral waar waarbij waardoor
        waarin waarom waarop waarvan wanneer waren was wat we weer wel welk welke werd werden wie wij wil wilde willen
        word worden wordt z zal ze zeer zelf zelfs zich zichzelf zij zijn zo zoals zodat zonder zou zouden zowel zullen
        één
    """,
    # Added to scikit-learn's list, which lacks them.
    "english": """
        ain amid anybody aren arent couldn d despite did didn didnt does doesn doesnt doing don dont everybody
        hadn hadnt hasn haven havent having im isn isnt ive just ll m maybe mayn mightn mustn near needn oneself ought
        oughtn quite really s shall shan shouldn shouldnt somebody t thats theirs theyre till unless unlike unto ve wasn
        wasnt weren werent whichever whomever wouldn wouldnt yes youre
    """,
    "french": """
        afin ai ainsi alors après as au aucun aucune aujourd aura aurait auront aussi autre autres aux avaient avais
        avait avant avec avez avoir avons ayant beaucoup bien c car ce ceci cela celle celles celui cependant ces cet
        cette ceux chacun chaque chez comme comment contre d dans de depuis des devait devoir devrait doit doivent donc
        dont du durant dès déjà elle elles en encore enfin entre es est et eu eut eux fait furent fut hui ici il ils j
        jamais je jusqu jusque l la laquelle le lequel les lesquelles lesquels leur leurs lors lorsqu lorsque lui là m
        ma mais malgré me mes moi moins mon même mêmes n ne ni non nos notre nous on ont ou oui où par parce parfois
        parmi pas pendant peu peut peuvent plus plusieurs plutôt pour pourquoi pourrait pouvait pouvoir presque près
        puis puisqu puisque qu quand que quel quelle quelles quelqu quelque quelques quels qui quoi quoiqu rien s sa
        sans sauf se selon sera serait seront ses si soi soit sommes son sont sous suis sur t ta tandis tant te tel
        telle tes toi ton toujours tous tout toute toutes trop très tu un une va vers voici voilà vont vos votre vous y
        à ça étaient étais était étant été êtes être
    """,
    "german": """
        aber alle allem allen aller alles als also am an andere anderen anderes auch auf aus außer bei beim bereits bin
        bis bist da dabei dadurch dafür daher damit danach dann daran darauf darf darin darum darüber das dass davon
        dazu daß dein deine dem den denen denn der deren des dessen dich die dies diese diesem diesen dieser dieses dir
        doch dort du durch dürfen ein eine einem einen einer eines einige er es etwas euch euer eure für gegen gewesen
        habe haben hat hatte hatten hier hinter hätte hätten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in
        indem ins ist ja jede jedem jeden jeder jedes jedoch jetzt kann kein keine keinen konnte konnten können könnte
        könnten man mehr mein meine meinen mich mir mit muss musste muß müssen nach nachdem neben nein nicht nichts noch
        nun nur ob obwohl oder ohne s schon sehr sein seine seinem seinen seiner seit selbst sich sie sind so sogar soll
        sollen sollte sollten sondern sowie um und uns unser unsere unseren unter viel vom von vor wann war waren warum
        was weder wegen weil welche welcher welches wem wen wenn wer werde werden wie wieder will wir wird wo wollen
        wollte worden wurde wurden während wäre wären würde würden zu zum zur zwar zwischen über
    """,
    "italian": """
        a abbiamo ad agli ai al alcune alcuni all alla alle allo allora altra altre altri altro anch anche ancora avere
        aveva avevano avrebbe avrà avuto c che chi ci cioè ciò col com come con contro cos così cui d da dagli dai dal
        dall dalla dalle dallo degli dei del dell della delle dello deve devono dopo dov dove durante e ed egli era
        erano essa essere esso fino forse fosse fra fu già gli ha hai hanno ho i il in invece io l la le lei li lo loro
        lui là lì m ma mai me meno mentre mi mia mie miei mio molte molti molto ne negli nei nel nell nella nelle nello
        nessun nessuna nessuno niente noi non nostra nostri nostro né o ogni oltre ora per perché però più po poco poi
        poiché possono prima proprio pure può qual qualche qualcosa quale quali quando quanto quasi quel quell quella
        quelle quelli quello quest questa queste questi questo qui quindi s sarebbe sarà se sei senza si sia siamo siano
        solo sono sopra sotto sta stata state stati stato stessa stesso su sua sue sugli sui sul sull sulla sulle sullo
        suo suoi sé sì t tale te ti tra tu tua tuo tutt tutta tutte tutti tutto un una uno vi voi è
    """,
    "polish": """
        a aby albo ale ani aż bardzo bez bo bowiem by byli być był była było były będzie będą będę choć ci cię co coraz
        coś czego czy czyli czym dla dlaczego dlatego do gdy gdyby gdyż gdzie go i ich ile im inna inne inny innych iż
        ja jak jaka jaki jakie jakiś jako je jednak jego jej jest jestem jeszcze jeśli jeżeli już ją każda każde każdego
        każdy kiedy kilka kto która które którego której który których którym którymi którzy którą ku lecz lub ma mają
        mam mi miał miała mieć mimo mnie mogą mogła moja moje może można mu musi muszą my móc mógł mój na nad nam nami
        nas nasz nasza nasze natomiast nawet nic nich nie niech niego niej nigdy nikt nim nimi nią niż o obok od on ona
        one oni ono oraz po pod podczas ponad ponieważ potem powinien powinna powinno poza prawie przed przez przy
        raczej również sam sama siebie się sobie swoich swoim swoje swoją swój są ta tak taka taki takie także tam te
        tego tej temu ten teraz też to tobie trzeba tu tutaj ty tych tyle tylko tym tą tę u w wam was we według więc
        wobec wszyscy wszystkich wszystkie wszystko wy właśnie wśród z za zatem zawsze zaś zbyt ze znowu żaden żadna
        żadne że żeby
    """,
    "portuguese": """
        a ainda algo algum alguma algumas alguns alguém ali além antes ao aos apenas após aquela aquelas aquele aqueles
        aqui aquilo as assim até bem cada com como contra cuja cujo d da das de dela delas dele deles depois desde dessa
        desse desta deste deve devem devia disso disto do dos durante e ela elas ele eles em embora enquanto entre então
        era eram essa essas esse esses esta estamos estar estas estava estavam este esteja estes esteve estou está estão
        eu foi for foram fosse fui havia houve há isso isto já lhe lhes logo lá mais mas me menos mesma mesmas mesmo
        mesmos meu meus mim minha minhas muita muitas muito muitos na nada nas nela nele nem nenhum nenhuma nessa nesse
        nesta neste ninguém no nos nossa nossas nosso nossos num numa nunca não nós o onde os ou outra outras outro
        outros para pela pelas pelo pelos pode podem poderia podia por porque porém pouco quais qual qualquer quando
        quanto quase que quem se seja sejam sem sempre sendo ser seria será serão seu seus si sido sob sobre somos sou
        sua suas são só tal talvez também tanto te tem tenho ter teve tinha tinham toda todas todo todos tu tudo tão têm
        um uma uns vai você vocês vão à às é
    """,
    "russian": """
        а без более будет будут бы был была были было быть в вам вас ваш ваша ваши ведь весь во вот все всегда всего
        всей всем всеми всех всю вся всё вы где да даже для до должен должна должно должны его ее ей ему если есть еще
        ещё её ж же за здесь и из или им ими иногда их к каждый как какая какие каких какое какой ко когда кого ком кому
        которая которого которое которой котором которую которые который которым которых кроме кто куда ли либо лишь
        между менее меня мне мной мог могла могли могут мое может можно мои мой моя моё мы на над надо нам нами нас наш
        наша наше наши не него нее ней нельзя нет неё ни нибудь никогда никто ним ними них ничего но ну нужно о об
        однако он она они оно от очень перед по под пока после потом потому почему почти при про с сам сама сами свое
        своего своей свои своим своих свой свою своя своё себе себя сейчас со собой так такая также такие таких такое
        такой там те тебе тебя тем тех то тогда того тоже той только том тому тот ту тут ты у уже хотя чего чем через
        что чтобы эта эти этим этими этих это этого этой этом этому этот эту я
    """,
    "spanish": """
        a ahora ahí al algo alguien alguna algunas alguno algunos algún allí ambos ante antes aquel aquella aquellas
        aquello aquellos aquí así aun aunque aún cada casi como con contra cual cuales cualquier cuando cuanto cuya cuyo
        cuyos cuál cuándo cómo de debe deben debía del demás desde después donde durante dónde e el ella ellas ello
        ellos en entonces entre era eran eres es esa esas ese eso esos esta estaba estaban estamos estar estas este esto
        estos estoy estuvo está están esté fue fuera fueron ha haber había habían han has hasta hay haya he hemos hubo
        incluso la las le les lo los luego mas me mediante menos mi mientras mis misma mismas mismo mismos mucha muchas
        mucho muchos muy más mí nada nadie ni ninguna ninguno ningún no nos nosotros nuestra nuestras nuestro nuestros
        nunca o os otra otras otro otros para pero poco podría podía por porque pudo puede pueden pues que quien quienes
        quizá quién qué se sea sean según ser será serán sería si sido siempre siendo sin sino sobre somos son soy su
        sus suya suyo sí también tampoco tan tanto te tener tenía ti tiene tienen toda todas todavía todo todos tras tu
        tus tuvo tú u un una unas uno unos usted ustedes va van vosotros y ya yo él
    """,
    "swedish": """
        aldrig all alla allt alltid alltså andra annan annat att av bara bland blev bli blir blivit borde både bör de
        dem den denna deras dess dessa dessutom det detta dig din dina ditt dock dom du där därefter därför därmed då
        efter eftersom ej eller emot en endast er era ert ett fast fick finns fram från få får för före genom ha hade
        haft han hans har hela helt henne hennes hon honom hos hur här i ibland icke igen igenom in inför inga ingen
        ingenting inget innan inom inte ja jag jo ju just kan kanske knappt kring kunde kunna kunnat lite man med medan
        mellan men mer mest mig min mina mindre minst mitt mot mycket må många måste ned nej ner ni nog nu när nära
        nästan någon något några och också ofta om omkring oss på redan s samma samt sedan sen sig sin sina sitt själv
        själva ska skall skulle snart som så sådan sådana sådant till tills trots under upp ur ut utan utanför utom vad
        var vara varandra varför varit varje varken vars vart vem vems vi via vid vilka vilken vilket vill ville visst
        vore väl vår våra vårt än ännu är även åt åtminstone över
    """,
    "turkish": """
        acaba ama ancak artık asla aslında az bana bazen bazı belki ben benden beni benim beri bile bir biraz biri
        birkaç birçok biz bizden bize bizi bizim bu buna bundan bunlar bunları bunların bunu bunun burada böyle böylece
        bütün da daha dahi dan de dek den değil değildi değildir diye diğer dolayı dolayısıyla eden eder ederek edildi
        edilen en etmek etti ettiği eğer fakat gene gibi göre hakkında hala halde hangi hani hatta hem hemen henüz hep
        hepsi her herhangi herkes hiç hiçbir hâlâ idi iken ile imiş in ise itibaren için işte kadar karşı kendi kendine
        kendini kendisi ki kim kimi kimse lakin madem meğer mi midir mu mü mı mıdır nasıl ne neden nedenle nerede nereye
        nin nitekim niye niçin nun nün nın o olacak olan olarak oldu oldukça olduğu olduğunu olmak olması olmayan olmuş
        olsa olsun olup olur olursa ona ondan onlar onlara onlardan onları onların onu onun orada oysa pek peki rağmen
        sadece sana sanki sen senden seni senin siz sizden size sizi sizin sonra ta tarafından tüm var vardı ve veya
        veyahut vs ya yani ye yerine yi yine yok yoksa yu yü yı zaten çok çünkü önce öteki öyle ün üzere üzerine ın
        şayet şey şimdi şu şuna şunlar şunu şunun şöyle
    """,
}

LANGUAGES: tuple[str, ...] = tuple(sorted(_WORDS))


def stop_words(name_or_words: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None) -> frozenset[str]:
    """Return the words to leave out of a vocabulary.

    Parameters
    ----------
    name_or_words : str, path, iterable of them, or None
        A language (one of ``LANGUAGES``), a UTF-8 file with one word per line, or a collection of words. In a list or a
        tuple, the name of a language stands for its words and a ``Path`` for those of the file, so that
        ``["english", "german", Path("more.txt"), "widget"]`` adds up. In a set, as in a file, every entry is a word. In a
        file, blank lines and lines that begin with # are ignored. Words keep their case. None gives no words.

    Returns
    -------
    frozenset of str

    Notes
    -----
    The name of a language goes before a file of the same name: write ``./english`` or ``Path("english")`` for the file.
    """
    entries = stop_entries(name_or_words)
    languages = languages_in(entries)
    return (entries - set(map(_entry_of, languages))).union(*map(_of_language, languages))


def _entry_of(language: str) -> str:
    """What stands for a language in a set of words: no token looks like it."""
    return f"<{language}>"


def languages_in(entries: Collection[str]) -> list[str]:
    """Return the languages that a set of entries holds."""
    return [name for name in LANGUAGES if _entry_of(name) in entries]


def stop_entries(name_or_words: Any) -> frozenset[str]:
    """Return words, and an entry for each language: a set that :func:`stop_words` takes too. Files are read."""
    if name_or_words is None:
        return frozenset()
    if isinstance(name_or_words, str):
        if name_or_words in _WORDS:
            return frozenset([_entry_of(name_or_words)])
        # Not Path.exists: it raises where a text is too long to be a path, and a list of words in one str may be.
        if os.path.isdir(name_or_words) or not os.path.exists(name_or_words):
            raise InputError(_expected(name_or_words))
        return _of_file(Path(name_or_words))
    if isinstance(name_or_words, os.PathLike):
        return _of_file(Path(name_or_words))
    # Bytes are iterable too, but their items are numbers.
    if not isinstance(name_or_words, Iterable) or isinstance(name_or_words, (bytes, bytearray)):
        raise InputError(_expected(name_or_words))
    words: set[str] = set()
    by_name = isinstance(name_or_words, (list, tuple))
    for word in name_or_words:
        if isinstance(word, os.PathLike):
            words |= _of_file(Path(word))
        elif isinstance(word, str):
            words.add(_entry_of(word) if by_name and word in _WORDS else word)
        else:
            raise InputError(f"stop words must be str, but one of them is {reprlib.repr(word)}: convert it with str().")
    return frozenset(words)


def _of_language(name: str) -> frozenset[str]:
    own = frozenset(_WORDS[name].split())
    if name != "english":
        return own
    # Imported here: the other languages do not need it, and it is slow to load.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return own.union(ENGLISH_STOP_WORDS) - _ENGLISH_CONTENT


def _of_file(path: Path) -> frozenset[str]:
    from .files import whole_text

    lines = (line.strip() for line in whole_text(path).splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))


def _expected(given: object) -> str:
    return (
        f"stop words must be a language, an existing file or a collection of words, but are {reprlib.repr(given)}: "
        f"try one of {', '.join(LANGUAGES)}, a file with one word per line, or a list of these."
    )
