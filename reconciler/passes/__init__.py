"""Passes and applies: the floors below joined in order.

``reconcile_pass`` is one reconcile pass. ``pass_inputs`` reads its source (``source_tip``) by settings that
``settings_check`` lets pass, ``incremental`` and ``time_and_health`` say what it has to look at, ``proposing`` makes a
pull request of its commit, and ``checkpointing`` leaves word for the next one, with the members that are idle
(``remembering``). ``idle_pass`` and ``repeated_report`` are passes with nothing new, ``refused_pass`` one whose source
is refused, and ``agent_pass`` that of an agent. ``ending`` says how a pass ends, ``pass_lines`` what people read of it.

``members`` is the members' part of a pass: ``observation`` before it renders, with what agents (``hearing``,
``silent_agents``) and other tools (``tool_reading``) tell, then ``applying``, and ``recording`` of the results.
"""
