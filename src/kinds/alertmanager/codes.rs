//! The rules of Alertmanager: code, verdict, why and what to write instead.

use crate::rule::rules;

rules! {
    SELECTOR = "USHB101" Warning "the selector of Silences cannot be used",
        "Nobody can say which Silences such a selector selects: those that are there stay as they are, new ones do not arrive.",
        "use In or NotIn with values, Exists or DoesNotExist without, and names and values that labels can have; in an annotation, write it as kubectl -l takes it, or * for everything";
    NO_SUCH_FLAG = "USHB102" Warning "no Alertmanager starts with maxPerSilenceBytes",
        "prometheus-operator turns it into the flag --silences.max-per-silence-bytes, which no release of Alertmanager has, so the program ends at once.",
        "remove spec.limits.maxPerSilenceBytes and name silences.max-silence-size-bytes in spec.additionalArgs";
    EVERYBODY = "USHB103" Warning "every namespace may mute every alert",
        "Silences of all namespaces are selected and none of them gets the namespace matcher; labels, which choose the Alertmanager, belong to the tenants.",
        "use the strategy OnNamespace or OnNamespaceExceptForAlertmanagerNamespace, or a silenceNamespaceSelector that names the namespaces you trust";
    WIDENS = "USHB104" Warning "Silences that exist will mute more than before",
        "They lose the namespace matcher and then match alerts of other namespaces too. Those without a matcher that pins a value are ended instead.",
        "look at the Silences that this Alertmanager selects before you give the namespace matcher up";
}
