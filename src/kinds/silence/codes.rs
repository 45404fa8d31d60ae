//! The rules of Silence: code, verdict, why and what to write instead.

use crate::rule::{cel_rules, rules};

rules! {
    BLANK_COMMENT = "USHS001" Error "the comment is blank",
        "A silence without a reason is a riddle for whoever is on call next.",
        "say why the alerts are muted and until when you expect it";
    COMMENT_POLICY = "USHS002" Error "the comment does not follow the policy",
        "The operator of this cluster asks for a certain form of comment (--silence-comment-pattern), often a ticket number.",
        "write the comment in the form that the pattern asks for";
    LABEL_NAME = "USHS003" Error "the label name is not valid for the selecting Alertmanagers",
        "Alertmanagers before 0.27, and newer ones in classic mode, accept only names of letters, digits and underscores.",
        "use a name of the form [a-zA-Z_][a-zA-Z0-9_]*";
    PAST_END = "USHS004" Error "the silence has ended before it begins to exist",
        "Alertmanager refuses a silence whose end is in the past, so it would never mute anything.",
        "move spec.expiresAt into the future, or use spec.duration";
    TOO_LONG = "USHS005" Error "the window is longer than the policy allows",
        "The operator of this cluster limits how long alerts may be muted (--silence-max-duration).",
        "shorten the window and renew it when it is still needed";
    BAD_DURATION = "USHS006" Error "the duration is empty or ends beyond the year 9999",
        "A window of no length mutes nothing, and Alertmanager cannot store an end after the year 9999.",
        "write a duration like 2h or 1d12h";
    BAD_REGEX = "USHS007" Error "the regular expression is not valid",
        "Alertmanager reads expressions as Go's regexp package does and refuses the silence.",
        "mend the expression at the place that is named";
    MATCHES_EMPTY = "USHS008" Error "every matcher matches the empty string",
        "Alertmanager refuses a silence in which no matcher needs a label to be there.",
        "add a matcher with a value, for example alertname";
    CONTRADICTION = "USHS009" Error "two matchers exclude each other",
        "All matchers must match the same alert; these two never do, so the silence would mute nothing.",
        "remove one of the two matchers, or make two Silences";
    FOREIGN_NAMESPACE = "USHS010" Error "the silence can never match under namespace enforcement",
        "Alertmanagers that enforce the namespace add a matcher for the Silence's own namespace; an alert of another namespace can then never be muted from here.",
        "create the Silence in the namespace whose alerts it should mute";
    BROAD = "USHS011" Error "no matcher pins a concrete value",
        "The silence mutes alerts that nobody thought of. Alertmanager itself would accept it.",
        "add a matcher with = and a concrete value, for example alertname";
    MIN_MATCHERS = "USHS012" Error "fewer matchers than the policy asks for",
        "The operator of this cluster asks for a minimum number of matchers (--silence-min-matchers).",
        "narrow the silence with further matchers";
    REQUIRED_LABELS = "USHS013" Error "a label that the policy requires has no matcher",
        "The operator of this cluster asks for = or =~ matchers on certain labels (--silence-required-labels).",
        "add a matcher for the label";
    TOO_LARGE = "USHS014" Error "the silence is larger than Alertmanager accepts",
        "A selecting Alertmanager runs with silences.max-silence-size-bytes and refuses larger silences.",
        "shorten the comment or the matchers";
    NO_MATCHERS = "USHS015" Error "there is no matcher",
        "A silence without matchers would mute everything; Alertmanager refuses it.",
        "add at least one matcher";
    POISON = "USHS016" Error "the regular expression breaks Alertmanager",
        "Alertmanager takes the silence and then cannot compile the expression: every query that reaches it fails, and alerts of everybody stay unmuted.",
        "close what is open in the expression, for example \\Q with \\E";
    BAD_START = "USHS017" Error "the start times cannot be read",
        "A cron expression has five fields and a weekly start is HH:MM; seconds, @daily and other forms that some programs know are not read here.",
        "write minute, hour, day of month, month and day of week, like 0 2 * * SUN";
    UNKNOWN_ZONE = "USHS018" Error "there is no time zone of that name",
        "Starts are local times; zones are named as in the IANA database, letter by letter, and the database is in usher.",
        "use a name like Europe/Berlin, or UTC";
    NEVER_OCCURS = "USHS019" Error "no window ever starts",
        "No date fits the schedule, or none between from and until, so it would never mute anything.",
        "name days that exist, and a from and until with a start between them";
    STARTS_TOO_CLOSE = "USHS020" Error "windows start less than 5 minutes apart",
        "Every window is a new silence in each Alertmanager; so many of them leave no time to bring one there before the next.",
        "let windows start at least 5 minutes apart, and last longer";
    WINDOW_LENGTH = "USHS021" Error "a window lasts less than a minute or more than 7 days",
        "A shorter window is over before alerts are sent; a longer one is no recurring window but a long silence.",
        "write a duration from 1m to 7d";
    OVERLAPS_ITSELF = "USHS022" Error "a window lasts longer than until the next one starts",
        "Windows of one schedule may touch but not overlap. Clock changes count: one day of the year has 23 hours in many zones.",
        "shorten the duration, or let windows start less often";
    REPEATED_START = "USHS023" Error "a weekly start is there twice",
        "The second one says nothing, or another day or time was meant.",
        "remove the repetition";
    BROAD_RECORD = "USHS024" Error "the record of a permission is not the requester's to write",
        "The annotation usher.dev/broad-allowed says that somebody with the permission silence-all wanted a silence that mutes everything.",
        "leave the annotation away, or ask somebody who holds usher-silence-all";
    UNSELECTED = "USHS101" Warning "no Alertmanager selects the silence",
        "It is stored but mutes nothing until an Alertmanager's silenceSelector and silenceNamespaceSelector select it.",
        "give the Silence the labels that an Alertmanager selects";
    FAR_END = "USHS102" Warning "the silence ends more than 30 days from now",
        "Long silences are forgotten and hide new problems.",
        "use a shorter window and renew it";
    NEAR_END = "USHS103" Warning "the silence ends within a minute",
        "It may be over before Alertmanager has it.",
        "check spec.expiresAt and its time zone";
    ENDS_NOW = "USHS104" Warning "the change ends the silence now",
        "An end in the past on an existing Silence means that it ends at once.",
        "nothing, if that is what you want";
    DUPLICATE = "USHS105" Warning "another Silence mutes the same alerts in the same time",
        "Two objects for one silence make it unclear which one to end.",
        "change the existing Silence instead";
    OWN_NAMESPACE = "USHS106" Warning "the matcher on the own namespace is redundant",
        "Every selecting Alertmanager adds it anyway.",
        "leave the matcher out";
    METRIC_NAME = "USHS107" Warning "alerts have no label __name__",
        "Alerts are named by the label alertname; __name__ is a metric's.",
        "match alertname";
    ANCHORED = "USHS108" Warning "the regular expression is anchored already",
        "Alertmanager matches the whole value; ^ and $ change nothing.",
        "leave out ^ and $";
    LOOKS_LIKE_REGEX = "USHS109" Warning "the value looks like a regular expression but is compared literally",
        "With = and != the characters .* and | stand for themselves.",
        "use matchType =~, or leave it if the value is meant literally";
    NO_METACHARACTERS = "USHS110" Warning "the regular expression has no metacharacters",
        "It matches exactly the text, and only the whole value; a prefix needs .* behind it.",
        "use matchType =, or add the .* that is missing";
    BLANKS = "USHS111" Warning "the value begins or ends with blanks",
        "Blanks count in the comparison and are hard to see.",
        "remove the blanks";
    NEARLY_FULL = "USHS112" Warning "an Alertmanager holds nearly as many silences as it may",
        "It refuses more, and ended silences count until it forgets them.",
        "end silences that nobody needs, or raise maxSilences of the Alertmanager";
    UNREACHABLE = "USHS113" Warning "a selecting Alertmanager listens on its own loopback only",
        "usher cannot reach it, so the silence will not arrive there.",
        "give the Alertmanager the annotation usher.dev/alertmanager-url or usher.dev/alertmanager-port";
    SUSPENDED = "USHS114" Warning "the silence is suspended",
        "A suspended Silence mutes nothing.",
        "set spec.suspend to false to mute";
    REPEATED_MATCHER = "USHS115" Warning "the matcher is there twice",
        "It is sent once.",
        "remove the repetition";
    NEW_ID = "USHS116" Warning "changed matchers make a new silence in Alertmanager",
        "Alertmanager ends the old silence and makes one with another id.",
        "nothing, if that is what you want";
    SEVERITY_ONLY = "USHS117" Warning "the silence mutes everything of one severity",
        "Nothing but the severity narrows it.",
        "add a matcher with a concrete value, for example alertname";
    ENFORCED = "USHS118" Warning "the namespace matcher is added for an Alertmanager",
        "This Alertmanager enforces the namespace, so only alerts of the Silence's own namespace are muted there.",
        "nothing; this tells what is sent";
    NEWER_GO = "USHS119" Warning "older Alertmanagers do not read the expression",
        "Go learned it later; an Alertmanager that was built before refuses the silence.",
        "write it in the older form if such an Alertmanager selects the silence";
    SHORT_MONTHS = "USHS120" Warning "some months do not have the day",
        "Months without the named day are skipped, they do not fall back to their last day.",
        "use a day up to 28, or the first of the next month";
    EITHER_DAY = "USHS121" Warning "a window starts on the days of either field",
        "When both the day of month and the day of week are given, cron takes the days of both, not those that are in both.",
        "write * for one of the two if you mean only the other";
    MUTES_NOW = "USHS122" Warning "the silence mutes alerts that fire now",
        "These alerts stop notifying as soon as the silence is in force.",
        "nothing, if they are the ones you mean";
    MUTES_NOTHING = "USHS123" Warning "no alert that fires now matches",
        "Perhaps a value is misspelled; perhaps nothing fires yet.",
        "compare the matchers with the labels of the alerts that you mean";
    UNCERTAIN = "USHS125" Warning "nobody can tell whether an Alertmanager selects the silence",
        "A selector of that Alertmanager cannot be used: silences that it has stay as they are, new ones do not arrive.",
        "correct the selector of the Alertmanager";
    NOTIFIES_AGAIN = "USHS124" Warning "alerts that this silence mutes will notify again",
        "They fire now, and no other silence mutes them.",
        "nothing, if the work is done; else leave the silence until its end";
}

cel_rules! {
    ONE_END = "USHS901" "exactly one of expiresAt, duration and schedule must be set",
        "A silence needs an end, and two of them could disagree.",
        "keep one of spec.expiresAt, spec.duration and spec.schedule";
    START_BEFORE_END = "USHS902" "startsAt must be before expiresAt",
        "Alertmanager refuses a window that ends before it begins.",
        "move spec.startsAt before spec.expiresAt";
    SCHEDULE_ALONE = "USHS903" "startsAt has no meaning with a schedule",
        "A schedule says itself when its windows start.",
        "use spec.schedule.from instead of spec.startsAt";
    ONE_RECURRENCE = "USHS904" "exactly one of cron and weekly must be set",
        "Both say when the windows start.",
        "keep one of spec.schedule.cron and spec.schedule.weekly";
}
