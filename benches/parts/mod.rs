pub mod check;
pub mod echo;
pub mod languages;
pub mod load;
pub mod process;
pub mod reviews;
pub mod rules;
