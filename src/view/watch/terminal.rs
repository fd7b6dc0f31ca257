//! The terminal while it is watched: taken over, drawn on where something changed, given back.

use super::Watched;
use cook_core::diagnostic::{Code, Failure};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// What was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    Up,
    Down,
    Left,
    Right,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C: in this mode no signal comes of it.
    Interrupt,
    /// The size is another now.
    Resized,
}

/// The whole terminal. It is given back when this ends, and by a hook where something panics.
pub(crate) struct WatchTerminal {
    terminal: DefaultTerminal,
    drawn: Option<Watched>,
}

impl WatchTerminal {
    /// Takes the terminal over.
    pub fn take() -> Result<Self, Failure> {
        let terminal = ratatui::try_init().map_err(|error| {
            ratatui::restore();
            Failure::state(Code::OutputUnwritable, "this terminal cannot be drawn on")
                .replace_hints(["`cook watch | cat` prints a line for each transition"])
                .caused_by(&error)
        })?;
        Ok(Self {
            terminal,
            drawn: None,
        })
    }

    /// Draws what is seen, where it is not what stands there.
    pub fn show(&mut self, watched: &Watched) -> Result<(), Failure> {
        if self.drawn.as_ref() == Some(watched) {
            return Ok(());
        }
        let drawn = self.terminal.draw(|frame| watched.draw(frame));
        drawn.map_err(|error| unusable(&error))?;
        self.drawn = Some(watched.clone());
        Ok(())
    }

    /// The next key; none when the time is over.
    pub fn key(&mut self, wait: Duration) -> Result<Option<Key>, Failure> {
        if !event::poll(wait).map_err(|error| unusable(&error))? {
            return Ok(None);
        }
        Ok(match event::read().map_err(|error| unusable(&error))? {
            Event::Resize(..) => {
                self.drawn = None;
                Some(Key::Resized)
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => match key.code {
                KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    Some(Key::Interrupt)
                }
                KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::CONTROL) => None,
                KeyCode::Char(letter) => Some(Key::Letter(letter)),
                KeyCode::Up => Some(Key::Up),
                KeyCode::Down => Some(Key::Down),
                KeyCode::Left => Some(Key::Left),
                KeyCode::Right => Some(Key::Right),
                KeyCode::Enter => Some(Key::Enter),
                KeyCode::Esc => Some(Key::Escape),
                KeyCode::Backspace => Some(Key::Backspace),
                _ => None,
            },
            _ => None,
        })
    }
}

impl Drop for WatchTerminal {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn unusable(error: &std::io::Error) -> Failure {
    Failure::state(Code::OutputUnwritable, "the terminal is gone").caused_by(error)
}
