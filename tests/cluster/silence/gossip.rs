//! Members that are away, cut off from the others, or come back with nothing or with too much.

use serde_json::json;

use super::*;
use crate::support::alertmanager_fake::{Call, Setup};
use crate::support::alertmanager_objects::{pod_name, set_ready};
use crate::support::alertmanagers::{Options as Members, Release};

/// Case 26: a member that gossip does not reach gets the silence directly, and after healing one id remains; at no
/// moment is a member that had one without.
#[tokio::test(flavor = "multi_thread")]
async fn case_26_a_member_that_is_cut_off_is_healed_and_later_freed_of_the_duplicate() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 3, Members::default()).await;
    bind(cluster, "main", &members, json!({"clusterPushpullInterval": "6s"}));
    let running = usher(cluster, settings()).await;
    members.cut(2).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    until(20, "on the two", || async {
        members.live(0).await.len() == 1 && members.live(1).await.len() == 1
    })
    .await;
    assert!(members.live(2).await.is_empty());
    let sent = members.live(0).await.remove(0);
    until(20, "2/3 is told", || async {
        counts(binding(&stored(cluster, "frontend", "api"), "main")) == "2/3"
    })
    .await;
    until(40, "healed directly", || async { members.live(2).await.len() == 1 }).await;
    let direct = members.live(2).await.remove(0);
    assert_ne!(direct["id"], sent["id"]);
    assert_eq!(matchers(&direct), matchers(&sent));
    until(20, "3/3 is told", || async {
        counts(binding(&stored(cluster, "frontend", "api"), "main")) == "3/3"
    })
    .await;
    heard(cluster, "api", "ReplicationDegraded").await;

    members.heal(2).await;
    let started = Instant::now();
    loop {
        let mut ids = Vec::new();
        for member in 0..3 {
            let live = members.live(member).await;
            assert!(!live.is_empty(), "member {member} was without a silence");
            ids.extend(live.iter().map(|silence| id(silence).to_owned()));
        }
        if ids.len() == 3 && ids.iter().all(|one| *one == ids[0]) {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(40), "still {ids:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    clean(cluster);
    running.stop().await;
}

/// Case 27, and one instance that is down while a silence is made: it hears of it when it is back. A single one that
/// comes back with nothing gets it again.
#[tokio::test(flavor = "multi_thread")]
async fn case_27_an_instance_that_was_down_or_lost_everything_gets_it_again() {
    let (cluster, _turn) = stage().await;
    let (pair, single) = tokio::join!(
        Alertmanagers::start(Release::New, 2, Members::default()),
        Alertmanagers::start(Release::New, 1, Members::default()),
    );
    bind(cluster, "pair", &pair, json!({}));
    bind(cluster, "single", &single, json!({}));
    let running = usher(cluster, settings()).await;
    pair.kill(0).await;
    set_ready(cluster, "monitoring", &pod_name("pair", 0), false);
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    let object = told(cluster, "frontend", "api", "True/PartiallySynced").await;
    assert_eq!(counts(binding(&object, "pair")), "1/2", "{object:#}");
    assert_eq!(counts(binding(&object, "single")), "1/1");
    heard(cluster, "api", "PartiallySynced").await;
    pair.start_again(0).await;
    set_ready(cluster, "monitoring", &pod_name("pair", 0), true);
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(counts(binding(&object, "pair")), "2/2");
    let (one, two) = (pair.live(0).await, pair.live(1).await);
    assert_eq!((one.len(), two.len()), (1, 1));
    assert_eq!(one[0]["id"], two[0]["id"]);

    // Case 27: the volume is gone.
    let before = single.live(0).await.remove(0);
    single.start_empty(0).await;
    until(30, "made again", || async { single.live(0).await.len() == 1 }).await;
    assert_ne!(single.live(0).await[0]["id"], before["id"]);
    heard(cluster, "api", "SilenceRecreated").await;
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(binding(&object, "single")["silenceID"], single.live(0).await[0]["id"]);

    // Both of the pair at once.
    pair.kill(0).await;
    pair.start_empty(1).await;
    pair.start_empty(0).await;
    until(30, "made again in both", || async {
        let (one, two) = (pair.live(0).await, pair.live(1).await);
        one.len() == 1 && two.len() == 1 && one[0]["id"] == two[0]["id"]
    })
    .await;
    clean(cluster);
    running.stop().await;
}

/// Case 29: an expired silence that comes back with a member that was away for long is ended again.
#[tokio::test(flavor = "multi_thread")]
async fn case_29_a_ghost_is_ended_again() {
    let (cluster, _turn) = stage().await;
    let fake = Fake::start(Setup::default()).await;
    place_fake(cluster, "main", &fake, json!({}));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    let sent = id(&fake.live()[0]).to_owned();
    delete(cluster, "frontend", "api");
    assert!(fake.live().is_empty());
    fake.revive(&sent);
    assert_eq!(fake.live().len(), 1, "it is back");
    until(20, "ended again", || async { fake.live().is_empty() }).await;
    assert!(fake.count(Call::Delete) >= 2);
    heard(cluster, "main", "OrphansRemoved").await;
    clean(cluster);
    running.stop().await;
}

/// Case 41: two clusters share an Alertmanager, and a name: each keeps its own silence, neither touches the other's, and
/// what one deletes stays in the other. What tells them apart is the uid of their `kube-system`.
#[tokio::test(flavor = "multi_thread")]
async fn case_41_clusters_that_share_an_alertmanager_do_not_fight() {
    let (cluster, _turn) = stage().await;
    let second = Cluster::start().await;
    install::everything(&second);
    install::namespace(&second, "frontend");
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    let flag = format!("--alertmanager={}", members.url(0));
    let both = [cluster, &second];
    let object = silence("frontend", "api", json!([{"name": "service", "value": "api"}]));
    let flags = [flag.as_str()];
    let (one, two) = tokio::join!(process(cluster, &flags), process(&second, &flags));
    let mut ids = Vec::new();
    for cluster in both {
        apply(cluster, &object);
        let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
        ids.push(binding(&object, "default")["silenceID"].as_str().unwrap().to_owned());
    }
    assert_ne!(ids[0], ids[1]);
    let before = members.live(0).await;
    assert_eq!(before.len(), 2, "{before:#?}");
    some_passes().await;
    some_passes().await;
    assert_eq!(members.live(0).await, before, "something was touched");
    let of = |index: usize| before.iter().find(|silence| id(silence) == ids[index]).unwrap();
    assert_ne!(of(0)["annotations"]["usher.dev/cluster"], of(1)["annotations"]["usher.dev/cluster"]);
    // A hand edit is repaired by the one whose it is; the other one's goes on.
    members.post(0, edited(of(1), |silence| silence["comment"] = json!("mine"))).await;
    until(20, "repaired", || async {
        let live = members.live(0).await;
        live.len() == 2 && live.iter().all(|silence| silence["comment"] == "maintenance")
    })
    .await;
    delete(cluster, "frontend", "api");
    some_passes().await;
    let left = members.live(0).await;
    assert_eq!(left.iter().map(id).collect::<Vec<_>>(), [ids[1].as_str()]);
    delete(&second, "frontend", "api");
    assert!(members.live(0).await.is_empty());
    drop((one, two));
    clean(cluster);
}
