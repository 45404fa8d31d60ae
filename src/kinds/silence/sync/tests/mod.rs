//! The plan against simulated Alertmanagers.

mod cases;
mod converge;
mod driver;
mod parts;
mod steps;
mod windows;
mod world;
