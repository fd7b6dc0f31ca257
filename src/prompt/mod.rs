//! Role prompts.
