//! The terminal while it is watched: taken over, drawn on where something changed, given back.

use super::Watched;
use cook_core::diagnostic::{Code, Failure};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
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
///
/// What is pressed is read on a thread of its own: at the end of its input, when the terminal is
/// gone, that read never returns.
pub(crate) struct WatchTerminal {
    terminal: DefaultTerminal,
    pressed: Receiver<std::io::Result<Event>>,
    drawn: Option<Watched>,
}

impl WatchTerminal {
    /// Takes the terminal over.
    pub fn take() -> Result<Self, Failure> {
        let terminal = ratatui::try_init().map_err(|error| {
            ratatui::restore();
            Failure::state(Code::OutputUnwritable, "this terminal cannot be drawn on")
                .replace_hints(["`cook watch | cat` prints a line for each transition"])
                .with_cause(&error)
        })?;
        let (sender, pressed) = channel();
        let read_all = move || while sender.send(event::read()).is_ok() {};
        if let Err(error) = cook_os::thread::spawn(read_all) {
            ratatui::restore();
            return Err(unusable(&error));
        }
        Ok(Self {
            terminal,
            pressed,
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
        let event = match self.pressed.recv_timeout(wait) {
            Ok(event) => event.map_err(|error| unusable(&error))?,
            Err(RecvTimeoutError::Timeout) if std::io::stdin().is_terminal() => return Ok(None),
            Err(_) => return Err(report_gone()),
        };
        Ok(match event {
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

fn report_gone() -> Failure {
    Failure::state(Code::OutputUnwritable, "the terminal is gone")
}

fn unusable(error: &std::io::Error) -> Failure {
    report_gone().with_cause(error)
}
