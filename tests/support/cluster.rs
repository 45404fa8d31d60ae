//! A real API server on loopback: etcd and kube-apiserver, started once per process and ended with it.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// A cluster that lives as long as this value.
pub struct Cluster {
    /// Where its files are.
    pub directory: PathBuf,
    /// For kubectl and usher.
    pub kubeconfig: PathBuf,
    /// Where kubectl is.
    pub assets: PathBuf,
    /// What the API server writes about every request.
    pub audit_log: PathBuf,
    /// Where the API server is.
    pub address: SocketAddr,
    api_server: Vec<String>,
    supervisors: Mutex<Vec<Child>>,
}

impl Cluster {
    /// Builds what is missing, starts etcd and the API server, and waits until it is ready.
    pub async fn start() -> Self {
        install_crypto();
        let assets = peers("cluster");
        let directory =
            std::env::temp_dir().join(format!("usher-cluster-{}-{}", std::process::id(), free_port()));
        fs::create_dir_all(&directory).expect("making a scratch directory");
        let (etcd_port, peer_port, api_port) = (free_port(), free_port(), free_port());
        write_certificates(&directory);

        let etcd_url = format!("http://127.0.0.1:{etcd_port}");
        let peer_url = format!("http://127.0.0.1:{peer_port}");
        let data = directory.join("etcd");
        let etcd = [
            format!("--data-dir={}", data.display()),
            format!("--listen-client-urls={etcd_url}"),
            format!("--advertise-client-urls={etcd_url}"),
            format!("--listen-peer-urls={peer_url}"),
            format!("--initial-advertise-peer-urls={peer_url}"),
            format!("--initial-cluster=default={peer_url}"),
            "--unsafe-no-fsync".to_owned(),
            "--log-level=error".to_owned(),
        ];
        let file = |name: &str| directory.join(name).display().to_string();
        let api_server = [
            format!("--etcd-servers={etcd_url}"),
            "--storage-media-type=application/vnd.kubernetes.protobuf".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            format!("--secure-port={api_port}"),
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--tls-cert-file={}", file("server.pem")),
            format!("--tls-private-key-file={}", file("server.key")),
            format!("--client-ca-file={}", file("ca.pem")),
            "--anonymous-auth=false".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--service-account-issuer=https://usher.test".to_owned(),
            format!("--service-account-key-file={}", file("accounts.pub")),
            format!("--service-account-signing-key-file={}", file("accounts.key")),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            "--profiling=false".to_owned(),
            format!("--audit-policy-file={}", file("audit-policy.yaml")),
            format!("--audit-log-path={}", file("audit.log")),
            "--v=0".to_owned(),
        ];
        fs::write(directory.join("audit-policy.yaml"), AUDIT_POLICY).expect("writing the audit policy");
        let supervisors = vec![
            // Whatever way this process ends, etcd's supervisor removes the cluster's files.
            supervise(&directory, &directory, &assets.join("etcd"), &etcd, "etcd.log"),
            supervise(
                &directory.join("api-server"),
                &directory,
                &assets.join("kube-apiserver"),
                &api_server,
                "kube-apiserver.log",
            ),
        ];
        let credentials =
            format!("client-certificate: {}\n    client-key: {}", file("admin.pem"), file("admin.key"));
        let kubeconfig = write_kubeconfig(&directory, "kubeconfig", api_port, &credentials);
        let cluster = Self {
            audit_log: directory.join("audit.log"),
            address: ([127, 0, 0, 1], api_port).into(),
            directory,
            kubeconfig,
            assets,
            api_server: api_server.to_vec(),
            supervisors: Mutex::new(supervisors),
        };
        cluster.wait_until_ready().await;
        cluster
    }

    async fn wait_until_ready(&self) {
        let started = Instant::now();
        let client = self.client().await;
        loop {
            let request = http::Request::get("/readyz").body(Vec::new()).expect("a plain request");
            if client.request_text(request).await.is_ok_and(|answer| answer == "ok") {
                return;
            }
            if started.elapsed() > Duration::from_secs(60) {
                let log = fs::read_to_string(self.directory.join("kube-apiserver.log")).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(20).collect();
                panic!("the API server is not ready after 60 s:\n{}", tail.join("\n"));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Ends the API server as a signal does, and waits until it is gone.
    pub fn stop_api_server(&self) {
        let mut supervisors = self.supervisors.lock().unwrap_or_else(PoisonError::into_inner);
        if supervisors.len() > 1
            && let Some(mut supervisor) = supervisors.pop()
        {
            end(&mut supervisor);
        }
    }

    /// Starts the API server again, on the same port and the same data.
    pub async fn start_api_server(&self) {
        let program = self.assets.join("kube-apiserver");
        let scratch = self.directory.join("api-server");
        let started = supervise(&scratch, &self.directory, &program, &self.api_server, "kube-apiserver.log");
        self.supervisors.lock().unwrap_or_else(PoisonError::into_inner).push(started);
        self.wait_until_ready().await;
    }

    /// Starts another program with this cluster; it ends with the value that is given back.
    pub fn run(&self, program: &Path, arguments: &[String], log: &str) -> Program {
        let scratch = self.directory.join(format!("scratch-{}", free_port()));
        let child = supervise(&scratch, &self.directory, program, arguments, log);
        Program { child, log: self.directory.join(log) }
    }

    /// The real kube-controller-manager, for what deletes namespaces and collects garbage.
    pub fn run_controller_manager(&self) -> Program {
        let program = peers("controller-manager").join("kube-controller-manager");
        let arguments = [
            format!("--kubeconfig={}", self.kubeconfig.display()),
            "--controllers=namespace-controller,garbage-collector-controller".to_owned(),
            "--leader-elect=false".to_owned(),
            format!("--secure-port={}", free_port()),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--cert-dir={}", self.directory.join("kcm-certs").display()),
        ];
        self.run(&program, &arguments, "kube-controller-manager.log")
    }

    /// A kubeconfig for somebody else, at this address.
    pub fn kubeconfig_for(&self, name: &str, port: u16, token: &str) -> PathBuf {
        write_kubeconfig(&self.directory, name, port, &format!("token: {token}"))
    }

    /// A client with all rights.
    pub async fn client(&self) -> kube::Client {
        kube::Client::try_from(self.config().await).expect("a client")
    }

    /// A client that speaks for somebody else.
    pub async fn client_as(&self, user: &str) -> kube::Client {
        let mut config = self.config().await;
        config.auth_info.impersonate = Some(user.to_owned());
        kube::Client::try_from(config).expect("a client")
    }

    async fn config(&self) -> kube::Config {
        let file = kube::config::Kubeconfig::read_from(&self.kubeconfig).expect("our own kubeconfig");
        kube::Config::from_custom_kubeconfig(file, &Default::default()).await.expect("a usable config")
    }

    /// Runs kubectl; gives its success, standard output and standard error.
    pub fn kubectl(&self, arguments: &[&str], input: Option<&str>) -> (bool, String, String) {
        use std::io::Write as _;
        let mut child = Command::new(self.assets.join("kubectl"))
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(arguments)
            .env("HOME", &self.directory)
            .current_dir(repository())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starting kubectl");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.unwrap_or_default().as_bytes()).expect("writing to kubectl");
        drop(stdin);
        let output = child.wait_with_output().expect("waiting for kubectl");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (output.status.success(), text(output.stdout), text(output.stderr))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The API server first; closing the pipes is the word.
        let mut supervisors = self.supervisors.lock().unwrap_or_else(PoisonError::into_inner);
        for supervisor in supervisors.iter_mut().rev() {
            end(supervisor);
        }
    }
}

fn end(supervisor: &mut Child) {
    drop(supervisor.stdin.take());
    let _ = supervisor.wait();
}

/// A program that ends with this value.
pub struct Program {
    child: Child,
    /// What it says.
    pub log: PathBuf,
}

impl Drop for Program {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Everything that is written, with who did it; what is read, without events' bodies.
const AUDIT_POLICY: &str =
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n";

/// One crypto provider for the whole test process.
pub fn install_crypto() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn repository() -> PathBuf {
    super::root()
}

/// The directory of real programs, built when they are missing (with progress on stderr).
pub fn peers(which: &str) -> PathBuf {
    let output = Command::new(repository().join("tests/peers/build.sh"))
        .arg(which)
        .stderr(Stdio::inherit())
        .output()
        .expect("running tests/peers/build.sh");
    assert!(output.status.success(), "tests/peers/build.sh {which} failed: see above");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// Runs a program for as long as this process lives; then the scratch directory goes.
fn supervise(scratch: &Path, directory: &Path, program: &Path, arguments: &[String], log: &str) -> Child {
    let log = File::options().create(true).append(true).open(directory.join(log)).expect("making a log file");
    let errors = log.try_clone().expect("the log file again");
    Command::new(repository().join("tests/peers/while-parent-lives.sh"))
        .arg(scratch)
        .arg(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .unwrap_or_else(|error| panic!("starting {}: {error}", program.display()))
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn write_certificates(directory: &Path) {
    let write =
        |name: &str, text: String| fs::write(directory.join(name), text).expect("writing a certificate");
    let authority_key = KeyPair::generate().expect("a key");
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    authority.distinguished_name.push(DnType::CommonName, "usher test CA");
    write("ca.pem", authority.self_signed(&authority_key).expect("a CA").pem());
    let issuer = Issuer::new(authority, authority_key);

    let names =
        ["127.0.0.1", "localhost", "kubernetes", "kubernetes.default.svc"].map(str::to_owned).to_vec();
    let server_key = KeyPair::generate().expect("a key");
    let mut server = CertificateParams::new(names).expect("good names");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    write("server.pem", server.signed_by(&server_key, &issuer).expect("a certificate").pem());
    write("server.key", server_key.serialize_pem());

    let admin_key = KeyPair::generate().expect("a key");
    let mut admin = CertificateParams::new(Vec::new()).expect("no names");
    admin.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    admin.distinguished_name.push(DnType::CommonName, "admin");
    admin.distinguished_name.push(DnType::OrganizationName, "system:masters");
    write("admin.pem", admin.signed_by(&admin_key, &issuer).expect("a certificate").pem());
    write("admin.key", admin_key.serialize_pem());

    let accounts = KeyPair::generate().expect("a key");
    write("accounts.key", accounts.serialize_pem());
    write("accounts.pub", accounts.public_key_pem());
}

fn write_kubeconfig(directory: &Path, name: &str, api_port: u16, credentials: &str) -> PathBuf {
    let authority = directory.join("ca.pem").display().to_string();
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: usher\nclusters:\n- name: usher\n  cluster:\n    server: https://127.0.0.1:{api_port}\n    certificate-authority: {authority}\nusers:\n- name: somebody\n  user:\n    {credentials}\ncontexts:\n- name: usher\n  context: {{cluster: usher, user: somebody, namespace: default}}\n"
    );
    let path = directory.join(name);
    fs::write(&path, text).expect("writing the kubeconfig");
    path
}
