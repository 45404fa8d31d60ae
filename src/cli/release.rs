//! `usher release` and `usher silence release`: take usher's finalizers away, for when usher itself goes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Error;
use crate::cluster::Cluster;
use crate::kinds::KindInfo;
use crate::reconcile::release;

/// Where the objects are.
#[derive(Debug, Args)]
pub struct Release {
    /// The kubeconfig [default: the pod's account, else the usual kubeconfig]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// Frees all objects of these kinds and says which.
pub(super) fn run(command: &Release, kinds: &[&'static KindInfo]) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Runtime::new()?;
    let freed = runtime.block_on(async {
        let found = Cluster::find(command.kubeconfig.as_deref(), command.context.as_deref(), None).await;
        let client = found.and_then(|cluster| cluster.client("release"));
        let client = client.map_err(|error| Error::Usage(error.to_string()))?;
        release::release(&client, kinds).await.map_err(Error::from)
    })?;
    for object in &freed {
        let place =
            if object.namespace.is_empty() { String::new() } else { format!("{}/", object.namespace) };
        println!("{} {place}{} released", object.kind, object.name);
    }
    println!("{} objects released", freed.len());
    Ok(ExitCode::SUCCESS)
}
