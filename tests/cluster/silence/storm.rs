//! usher is killed again and again while many silences come, change and go.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

const MANY: usize = 200;

/// A small generator: the same seed, the same storm.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// What the Alertmanagers should hold: for each Silence its comment and its matchers.
type Wanted = BTreeMap<String, (String, Vec<String>)>;

fn says(comment: &str, name: &str, more: Option<usize>) -> (String, Vec<String>) {
    let more = more.map(|number| format!("n={number}"));
    let matchers = [format!("service={name}")].into_iter().chain(more);
    (comment.to_owned(), matchers.chain(["namespace=frontend".to_owned()]).collect())
}

/// Creates, changes and deletes while usher is being killed; gives what should be left.
async fn work(client: kube::Client, seed: u64) -> Wanted {
    let api: Api<DynamicObject> =
        Api::namespaced_with(client, "frontend", &usher::kinds::silence::KIND.api_resource());
    let mut dice = Dice(seed);
    let mut wanted = Wanted::new();
    for number in 0..MANY {
        let name = format!("s{number:03}");
        let object = silence("frontend", &name, json!([{"name": "service", "value": name}]));
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
        wanted.insert(name.clone(), says("maintenance", &name, None));
        // One before it changes or goes, so that all three happen at once.
        let other = format!("s{:03}", dice.below(number as u64 + 1));
        match (wanted.contains_key(&other), dice.below(4)) {
            (true, 0) => {
                api.delete(&other, &DeleteParams::default()).await.unwrap();
                wanted.remove(&other);
            }
            (true, 1) => {
                let comment = format!("changed {number}");
                let change = Patch::Merge(json!({"spec": {"comment": comment}}));
                api.patch(&other, &PatchParams::default(), &change).await.unwrap();
                wanted.entry(other).and_modify(|known| known.0 = comment);
            }
            (true, 2) => {
                // Other matchers: another id.
                let matchers =
                    json!([{"name": "service", "value": other}, {"name": "n", "value": number.to_string()}]);
                let comment = format!("moved {number}");
                let change = Patch::Merge(json!({"spec": {"matchers": matchers, "comment": comment}}));
                api.patch(&other, &PatchParams::default(), &change).await.unwrap();
                wanted.insert(other.clone(), says(&comment, &other, Some(number)));
            }
            _ => {}
        }
        tokio::time::sleep(Duration::from_millis(20 + dice.below(60))).await;
    }
    wanted
}

/// Killed with SIGKILL at random points while 200 silences are made, changed and deleted: in the end every instance
/// holds exactly the desired set, nothing twice, and what people made is untouched.
#[tokio::test(flavor = "multi_thread")]
async fn usher_killed_at_random_leaves_neither_duplicates_nor_gaps() {
    let (cluster, _turn) = stage().await;
    let seed = std::env::var("STORM_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        u64::try_from(jiff::Timestamp::now().as_nanosecond() & 0xffff_ffff).unwrap_or(1) | 1
    });
    println!("storm: STORM_SEED={seed}");
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let mut foreign = BTreeSet::new();
    for number in 0..10 {
        foreign.insert(members.post(number % 2, by_hand("somebody", "n", &format!("hand-{number}"))).await);
    }
    foreign.insert(members.post(0, by_hand("frontend/s007", "job", "node")).await);
    let working = tokio::spawn(work(cluster.client().await, seed));
    let mut dice = Dice(seed.rotate_left(17) | 1);
    let mut kills = 0;
    let mut process = process(cluster, &[]).await;
    loop {
        tokio::time::sleep(Duration::from_millis(200 + dice.below(2500))).await;
        if working.is_finished() {
            break;
        }
        drop(process);
        kills += 1;
        // Now and then while it is still beginning.
        if dice.below(3) == 0 {
            let begun = begin(cluster, &[]);
            tokio::time::sleep(Duration::from_millis(dice.below(1500))).await;
            drop(begun);
            kills += 1;
        }
        process = super::process(cluster, &[]).await;
    }
    // Once more while the last of it is under way.
    drop(process);
    let wanted = working.await.unwrap();
    let process = super::process(cluster, &[]).await;
    println!("storm: killed {} times, {} of {MANY} silences left", kills + 1, wanted.len());
    assert!(kills >= 2, "hardly a storm");
    let started = Instant::now();
    loop {
        let mut trouble = Vec::new();
        for member in 0..2 {
            let mut found = BTreeMap::<String, Vec<(String, Vec<String>)>>::new();
            let mut kept = BTreeSet::new();
            for silence in members.live(member).await {
                if foreign.contains(id(&silence)) {
                    assert_eq!(silence["comment"], "made by hand");
                    kept.insert(id(&silence).to_owned());
                    continue;
                }
                let name = silence["createdBy"].as_str().unwrap().trim_start_matches("frontend/").to_owned();
                let comment = silence["comment"].as_str().unwrap().to_owned();
                found.entry(name).or_default().push((comment, matchers(&silence)));
            }
            assert_eq!(kept, foreign, "what people made was touched on member {member}");
            let expected: BTreeMap<String, Vec<(String, Vec<String>)>> =
                wanted.iter().map(|(name, says)| (name.clone(), vec![says.clone()])).collect();
            if found != expected {
                let wrong = found.iter().filter(|(name, says)| expected.get(*name) != Some(*says));
                let wrong: Vec<_> = wrong.take(5).collect();
                trouble.push(format!("member {member}: {} of {}, {wrong:?}", found.len(), expected.len()));
            }
        }
        if trouble.is_empty() {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "STORM_SEED={seed}: {trouble:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    println!("storm: all as it should be {:?} after the last kill", started.elapsed());
    delete_all(cluster, "frontend").await;
    until(20, "only what people made", || async { members.live(1).await.len() == foreign.len() }).await;
    clean(cluster);
    drop(process);
}
