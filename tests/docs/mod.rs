//! What the pages, the example and the published schemas say, held against the program.

mod agents;
mod example;
mod notify;
mod pages;
mod plain_schemas;
mod plugin;
mod published;
mod readme;
mod report_schemas;
mod schemas;
mod smoke;
