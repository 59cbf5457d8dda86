/** Three sources in German. */
import { direct, followUp, paraphrase, type Source } from './corpus.js';

const LIBRARY = `# Stadtbücherei Lindental

## Öffnungszeiten
Die Bücherei ist dienstags bis freitags von 10 bis 18 Uhr und samstags von 10 bis 14 Uhr geöffnet. Montags bleibt sie geschlossen.

## Ausweis
Den Ausweis bekommen Sie gegen Vorlage des Personalausweises. Er kostet 20 Euro im Jahr; für Schüler und Studierende ist er kostenlos.

## Leihfristen
Bücher dürfen vier Wochen behalten werden, Filme und Spiele eine Woche. Zweimal kann verlängert werden, wenn niemand vorgemerkt ist.

## Mahngebühren
Wer zu spät zurückgibt, zahlt 30 Cent für jedes Buch und jeden Tag, höchstens 10 Euro. Einen Tag vorher erinnern wir per E-Mail.

## Vormerken
Ausgeliehene Titel können für einen Euro vorgemerkt werden. Wir benachrichtigen Sie, sobald das Buch für Sie bereitliegt; es bleibt sieben Tage im Regal am Eingang.

## Elektronische Bücher
Mit der App Onleihe lesen Sie 12.000 elektronische Bücher auf Tablet oder Lesegerät. Nach drei Wochen verschwinden sie von selbst.

## Beschädigte und verlorene Bücher
Geht ein Buch verloren oder ist es beschädigt, ersetzen Sie den Neupreis und 5 Euro für die Bearbeitung.

## Vorlesestunde
Jeden Mittwoch um 16 Uhr lesen wir Kindern von vier bis sieben Jahren vor. Eine Anmeldung ist nicht nötig.

## Arbeitsplätze und Drucker
Im ersten Stock gibt es zwanzig ruhige Arbeitsplätze mit Steckdosen. Ein Ausdruck kostet 10 Cent, in Farbe 40 Cent.

## Rückgabe bei Nacht
Außerhalb der Öffnungszeiten nimmt der Kasten links vom Eingang Bücher an, aber keine Spiele.
`;

const GYM = `# Kraftraum Auental

## Mitgliedschaft
Die Mitgliedschaft kostet 39 Euro im Monat bei zwölf Monaten Laufzeit, ohne Bindung 54 Euro. Die Aufnahmegebühr beträgt 25 Euro.

## Kündigung
Gekündigt wird schriftlich oder im Kundenkonto, einen Monat vor Ende der Laufzeit. Sonst verlängert sich der Vertrag um je einen Monat.

## Ruhezeiten
Bei Krankheit, Schwangerschaft oder Umzug ins Ausland ruht der Vertrag bis zu sechs Monate. Ein Attest ist beizulegen.

## Probetraining
Ein Probetraining ist einmal kostenlos und dauert anderthalb Stunden. Bringen Sie saubere Hallenschuhe und ein Handtuch mit.

## Kurse
Yoga ist montags und donnerstags um 19 Uhr, Rückenschule mittwochs um 9 Uhr, Indoor-Cycling freitags um 18 Uhr. Plätze werden in der App gebucht.

## Sauna
Die Sauna ist ab 16 Uhr geheizt, dienstags nur für Frauen. Sie ist im Beitrag enthalten.

## Personal Training
Eine Einzelstunde mit Trainerin kostet 65 Euro, zehn Stunden 580 Euro. Dazu gehört ein Ernährungsplan.

## Spinde
Spinde sind nur während des Besuchs zu benutzen; ein eigenes Schloss ist mitzubringen. Über Nacht werden sie geleert.

## Jugendliche
Ab 16 Jahren darf mit Einwilligung der Eltern trainiert werden, ab 14 Jahren in Begleitung eines Erwachsenen.

## Parken
Mitglieder stellen ihr Auto im Parkhaus am Markt drei Stunden kostenlos ab; die Karte wird am Tresen entwertet.
`;

const ENERGY = `# Stadtwerke Auental: Strom

## Zählerstand
Den Zählerstand melden Sie bis zum 15. Januar im Kundenportal, per Postkarte oder am Telefon. Fehlt er, wird geschätzt.

## Abschlag
Der Abschlag ist jeweils am Ersten des Monats fällig. Sie können ihn zweimal im Jahr selbst ändern, um bis zu 20 Prozent.

## Umzug
Melden Sie den Umzug zwei Wochen vorher mit neuer Adresse und Zählernummer. Der Vertrag zieht auf Wunsch mit um.

## Tarife
Auental Natur kostet 31 Cent je Kilowattstunde und 9 Euro Grundpreis im Monat, Auental Nacht zwischen 22 und 6 Uhr nur 24 Cent.

## Stromausfall
Prüfen Sie zuerst die Sicherungen. Sind auch die Nachbarn ohne Strom, rufen Sie den Entstördienst unter 0800 555 010, Tag und Nacht.

## Wallbox
Ladestationen bis 11 Kilowatt sind nur anzumelden, größere müssen genehmigt werden. Wir geben 200 Euro Zuschuss.

## Solaranlage
Für eingespeisten Strom vom Dach zahlen wir 8 Cent je Kilowattstunde. Balkonmodule bis 800 Watt brauchen nur eine Meldung im Register.

## Zahlungsschwierigkeiten
Können Sie eine Rechnung nicht bezahlen, vereinbaren wir Raten bis zu zwölf Monaten. Gesperrt wird frühestens vier Wochen nach der Mahnung.

## Energieberatung
Unsere Beraterin kommt für 30 Euro ins Haus und misst, welche Geräte zu viel verbrauchen. Der Bericht folgt binnen zehn Tagen.

## Widerruf
Neue Verträge können binnen 14 Tagen ohne Angabe von Gründen widerrufen werden.
`;

export const GERMAN: readonly Source[] = [
  {
    language: 'de',
    name: 'Stadtbücherei Lindental',
    text: LIBRARY,
    questions: [
      direct('Was kostet der Ausweis für ein Jahr?', '20 Euro im Jahr'),
      direct('Wie lange darf ich ein Buch behalten?', 'vier Wochen behalten'),
      paraphrase(
        'Mein Hund hat den Roman zerbissen. Was muss ich jetzt zahlen?',
        'ersetzen Sie den Neupreis',
      ),
      paraphrase(
        'Kann ich bei Ihnen in Ruhe lernen und mein Notebook laden?',
        'zwanzig ruhige Arbeitsplätze',
      ),
      followUp(
        'Kann ich ein Buch vormerken, das gerade verliehen ist?',
        'Und wie lange heben Sie es dann für mich auf?',
        'sieben Tage im Regal',
      ),
      followUp(
        'Gibt es eine Vorlesestunde für Kinder?',
        'Muss ich meinen Sohn dafür anmelden?',
        'Eine Anmeldung ist nicht nötig',
      ),
    ],
  },
  {
    language: 'de',
    name: 'Kraftraum Auental',
    text: GYM,
    questions: [
      direct('Wann findet der Yogakurs statt?', 'Yoga ist montags'),
      direct('Wie viel kostet die Mitgliedschaft im Monat?', '39 Euro im Monat'),
      paraphrase(
        'Ich möchte erst einmal ausprobieren, ob es mir bei Ihnen gefällt.',
        'einmal kostenlos und dauert',
      ),
      paraphrase('Ich bin schwanger geworden. Kann ich eine Pause machen?', 'bis zu sechs Monate'),
      followUp('Haben Sie eine Sauna?', 'Kostet die extra?', 'ab 16 Uhr geheizt'),
      followUp(
        'Meine Tochter möchte trainieren, sie ist fünfzehn.',
        'Darf sie das schon?',
        'Ab 16 Jahren darf',
      ),
    ],
  },
  {
    language: 'de',
    name: 'Stadtwerke Auental',
    text: ENERGY,
    questions: [
      direct('Bis wann muss ich den Zählerstand melden?', '15. Januar'),
      direct('Muss ich eine Wallbox anmelden?', 'bis 11 Kilowatt'),
      paraphrase('Bei uns im Haus ist plötzlich alles dunkel. Wen rufe ich an?', '0800 555 010'),
      paraphrase(
        'Ich habe gerade kein Geld für die Rechnung. Stellen Sie mir das Licht ab?',
        'Raten bis zu zwölf Monaten',
      ),
      followUp(
        'Ich ziehe im März um.',
        'Was brauchen Sie dafür von mir?',
        'mit neuer Adresse und Zählernummer',
      ),
      followUp(
        'Ich habe eine Solaranlage auf dem Dach.',
        'Was bekomme ich von Ihnen für den Strom?',
        '8 Cent je Kilowattstunde',
      ),
    ],
  },
];
