"""Sentences of our own in twelve languages, put together of parts: what a model is calibrated with when its user gives no texts."""

from __future__ import annotations

import random

# Each language: how a sentence begins, what happens, how it ends. Any three together are a sentence.
PARTS = {
    "en": (
        "Yesterday|Last winter|After the meeting|In the small harbour|According to the manual|For the third time|Without a reason"
        "|Near the old station"
        "|At half past six|During the long drought|In her second letter|To everybody's surprise|On the ninth floor"
        "|Before the update|Behind the bakery|In version 4.2|Two years ago|Under new management|With little money|Across the border",
        "the train to the coast was cancelled|my sister sold her bicycle|the engineers found a crack in the bridge"
        "|our order arrived without the cable|a judge postponed the hearing|the goalkeeper saved two penalties"
        "|the price of wheat rose by 7%"
        "|nurses measured the fever every hour|the battery lasted for eleven hours|an owl nested in the chimney"
        "|the app lost all of my photos"
        "|the choir sang in four languages|the soup tasted of smoke and lemon|a comet was visible to the naked eye"
        "|the tenants refused to pay"
        "|the printer jammed on page 12|the vaccine was approved|students built a radio out of scrap|the river flooded the car park"
        "|the waiter was friendly and quick|the sequel bored us to tears|the support team never replied|the museum bought a Roman coin"
        "|the password had to be changed|our flight was overbooked|the dog barked at the postman|the company hired sixty people"
        "|the shoes fell apart|a glacier lost a third of its ice|the minister denied everything",
        "|, which nobody had expected|, and I would do it again|; what happens next?|, as the report says|, but only for a week"
        "|, so we asked for our money back|! It was wonderful|, although it rained|, not for the first time",
    ),
    "de": (
        "Gestern|Im letzten Winter|Trotz der Warnung|Am alten Hafen|Laut Anleitung|Zum dritten Mal|Kurz nach sechs|Ohne jeden Grund",
        "fiel der Zug nach Kiel aus|kam das Paket beschädigt an|stieg der Preis für Strom|schrieb meine Tante einen Brief"
        "|hielt der Akku elf Stunden|verschob das Gericht den Termin|schmeckte die Suppe nach Rauch|war das Personal sehr freundlich",
        "|, was niemand erwartet hatte|, aber nur für eine Woche|, wie der Bericht sagt|! Es war großartig",
    ),
    "fr": (
        "Hier|L'hiver dernier|Après la réunion|Près du vieux port|Selon le manuel|Pour la troisième fois|À six heures|Sans raison",
        "le train a été annulé|le colis est arrivé abîmé|le prix du blé a augmenté|ma sœur a vendu son vélo"
        "|la batterie a tenu onze heures|le juge a reporté l'audience|la soupe avait un goût de fumée|le serveur était très aimable",
        "|, ce que personne n'attendait|, mais pour une semaine seulement|, comme le dit le rapport| ! C'était magnifique",
    ),
    "es": (
        "Ayer|El invierno pasado|Después de la reunión|Cerca del puerto|Según el manual|Por tercera vez|A las seis|Sin motivo",
        "cancelaron el tren|el paquete llegó roto|subió el precio del trigo|mi hermana vendió su bicicleta"
        "|la batería duró once horas|el juez aplazó la vista|la sopa sabía a humo|el camarero fue muy amable",
        "|, algo que nadie esperaba|, pero solo una semana|, según el informe|. ¡Fue maravilloso!",
    ),
    "pt": (
        "Ontem|No inverno passado|Depois da reunião|Perto do porto|Segundo o manual|Pela terceira vez|Às seis horas|Sem motivo",
        "o trem foi cancelado|o pacote chegou quebrado|o preço do trigo subiu|minha irmã vendeu a bicicleta"
        "|a bateria durou onze horas|o juiz adiou a audiência|a sopa tinha gosto de fumaça|o garçom foi muito gentil",
        "|, o que ninguém esperava|, mas só por uma semana|, como diz o relatório|! Foi maravilhoso",
    ),
    "it": (
        "Ieri|Lo scorso inverno|Dopo la riunione|Vicino al porto|Secondo il manuale|Per la terza volta|Alle sei|Senza motivo",
        "il treno è stato cancellato|il pacco è arrivato rotto|il prezzo del grano è salito|mia sorella ha venduto la bici"
        "|la batteria è durata undici ore|il giudice ha rinviato l'udienza|la zuppa sapeva di fumo|il cameriere è stato gentile",
        "|, cosa che nessuno si aspettava|, ma solo per una settimana|, come dice il rapporto|! È stato bellissimo",
    ),
    "nl": (
        "Gisteren|Vorige winter|Na de vergadering|Bij de oude haven|Volgens de handleiding|Voor de derde keer|Om zes uur|Zonder reden",
        "viel de trein uit|kwam het pakket kapot aan|steeg de prijs van tarwe|verkocht mijn zus haar fiets"
        "|ging de batterij elf uur mee|stelde de rechter de zitting uit|smaakte de soep naar rook|was de ober erg vriendelijk",
        "|, wat niemand verwachtte|, maar slechts een week|, zoals het rapport zegt|! Het was prachtig",
    ),
    "ru": (
        "Вчера|Прошлой зимой|После собрания|Возле старого порта|Согласно инструкции|В третий раз|В шесть часов|Без причины",
        "поезд отменили|посылка пришла разбитой|цена на пшеницу выросла|сестра продала велосипед"
        "|батареи хватило на одиннадцать часов|судья перенёс заседание|суп пах дымом|официант был очень любезен",
        "|, чего никто не ожидал|, но только на неделю|, как сказано в отчёте|! Это было прекрасно",
    ),
    "zh": (
        "昨天，|去年冬天，|会议结束后，|在老港口附近，|根据手册，|第三次，|六点钟，|没有任何理由，",
        "开往海边的火车被取消了|包裹送到时已经损坏|小麦的价格上涨了|我姐姐卖掉了自行车|电池用了十一个小时"
        "|法官推迟了开庭|汤有烟熏的味道|服务员非常热情",
        "|，谁也没有想到|，但只有一个星期|，报告里是这样说的|！真是太好了",
    ),
    "ja": (
        "昨日、|去年の冬、|会議のあと、|古い港の近くで、|説明書によると、|三度目に、|六時に、|理由もなく、",
        "海へ行く電車が運休になった|荷物が壊れて届いた|小麦の値段が上がった"
        "|姉が自転車を売った|電池は十一時間もった|裁判が延期された|スープは煙の味がした|店員はとても親切だった",
        "|。誰も予想しなかった|。ただし一週間だけ|と報告書にある|！すばらしかった",
    ),
    "ar": (
        "أمس|في الشتاء الماضي|بعد الاجتماع|قرب الميناء القديم|وفقا للدليل|للمرة الثالثة|في الساعة السادسة|بلا سبب",
        "ألغي القطار|وصل الطرد مكسورا|ارتفع سعر القمح|باعت أختي دراجتها"
        "|دامت البطارية إحدى عشرة ساعة|أجل القاضي الجلسة|كان للحساء طعم الدخان|كان النادل لطيفا جدا",
        "|، ولم يتوقع ذلك أحد|، لكن لأسبوع واحد فقط|، كما يقول التقرير|! كان ذلك رائعا",
    ),
    "hi": (
        "कल|पिछली सर्दियों में|बैठक के बाद|पुराने बंदरगाह के पास|पुस्तिका के अनुसार|तीसरी बार|छह बजे|बिना कारण",
        "रेलगाड़ी रद्द हो गई|सामान टूटा हुआ पहुँचा|गेहूँ का दाम बढ़ गया"
        "|मेरी बहन ने साइकिल बेच दी|बैटरी ग्यारह घंटे चली|न्यायाधीश ने सुनवाई टाल दी|सूप में धुएँ का स्वाद था|बैरा बहुत विनम्र था",
        "|, जिसकी किसी को उम्मीद नहीं थी|, पर केवल एक सप्ताह के लिए|, जैसा रिपोर्ट कहती है|! बहुत अच्छा लगा",
    ),
}
# Languages that write no space between words.
JOINED = ("zh", "ja")


def draw_sentences(languages: list[str], count: int, seed: int) -> list[str]:
    """Return `count` different sentences, of each language about as many; English if none of them is known."""
    known = [one for one in dict.fromkeys(languages) if one in PARTS] or (list(PARTS) if len(languages) > 1 else ["en"])
    chance = random.Random(seed)
    rows = []
    for language in known:
        beginnings, events, ends = (part.split("|") for part in PARTS[language])
        gap = "" if language in JOINED else " "
        stop = "。" if language in JOINED else "।" if language == "hi" else "."
        made = [
            f"{begin}{gap}{event}{end}{'' if end[-1:] in ('!', '?') else stop}" for begin in beginnings for event in events for end in ends
        ]
        chance.shuffle(made)
        rows.append(made)
    mixed = [one for row in zip(*rows) for one in row]
    mixed += [one for row in rows for one in row[min(map(len, rows)) :]]
    return mixed[:count]
