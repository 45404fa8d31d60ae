pub mod check;
pub mod echo;
pub mod load;
pub mod process;
pub mod reviews;
